import { undoRoutes } from '@backlot/contract';
import { z } from 'zod';
import { defineTool, type Tool } from './tool.ts';

const control = (projectId: string) => `/api/platform/projects/${projectId}`;

const restorePoint = defineTool({
  name: 'restore_point',
  title: 'Name the state of all records',
  description:
    'Makes a restore point, to which "undo" brings the records back. Make one before a large change.',
  scope: 'admin',
  isDestructive: false,
  input: undoRoutes.createRestorePoint.body,
  run: ({ name }, { projectId, call }) =>
    call('POST', `${control(projectId)}/restore-points`, { name }),
});

const undo = defineTool({
  name: 'undo',
  title: 'Take changes of records back',
  description:
    'Takes back what was changed since a time ("since") or restore point, by anybody or by one actor (key:<id>, user:<id>, owner, visitor). Unless "dryRun" is false it only counts: look at that first. Collections deleted since come back too. What others changed since is left alone and listed. While "state" is "running", call it with "id" alone to see how far it has come.',
  scope: 'admin',
  isDestructive: true,
  input: z.strictObject({
    ...undoRoutes.undoChanges.body.shape,
    dryRun: z.boolean().default(true).describe('false: does it'),
    id: z.uuid().optional().describe('Of one that is running: only says how far it has come'),
  }),
  run: ({ id, ...request }, { projectId, call }) =>
    id === undefined
      ? call('POST', `${control(projectId)}/undo`, request)
      : call('GET', `${control(projectId)}/undo/${id}`),
});

export const historyTools: readonly Tool[] = [restorePoint, undo];
