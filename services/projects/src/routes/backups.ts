import { operatorRoutes } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import type { Backups } from '../operators/backups.ts';
import { readOperator } from '../operators/operator-tokens.ts';

/** Back-ups of the whole installation. */
export const routesForBackups = (backups: Backups): MountedRoute[] => [
  route(operatorRoutes.listBackups, async () => ({ body: await backups.list() })),
  route(operatorRoutes.noteBackup, async ({ params, body, identity }) => ({
    body: await backups.note(params.backupId, body, readOperator(identity).name),
  })),
];
