import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { displayName, idInPath, ok } from '../../schemas.ts';
import { copyProject, newProject } from './archives.ts';
import { configPlan, setConfig } from './config.ts';

/** Of one project; each is a project of its own. */
export const maxPreviews = 3;

/** Names a preview of the project in the address. */
export const previewHeader = 'Backlot-Preview';
/** The id of the preview, and 256 random bits. */
export const previewToken = /^pv_([a-z][a-z0-9]{11})_[A-Za-z0-9_-]{43}$/;

const base = { service: 'projects', plane: 'platform', callers: ['owner'] } as const;
const path = '/projects/:projectId/preview';
const oneProject = z.object({ projectId: idInPath });
const preview = idInPath.optional().describe('Its id; needed where there are several');

export const createPreview = defineRoute({
  ...base,
  operationId: 'createPreview',
  method: 'POST',
  path,
  summary: `Make a copy beside the project, which apps reach with a token; at most ${maxPreviews}`,
  limit: 'upload',
  params: oneProject,
  body: copyProject.body.extend({ name: displayName(100).optional() }),
  response: newProject.extend({
    token: z.string().describe(`For the header ${previewHeader}; shown in this answer only`),
  }),
  status: 201,
  errors: copyProject.errors,
});

export const promotePreview = defineRoute({
  ...base,
  operationId: 'promotePreview',
  method: 'POST',
  path: `${path}/promote`,
  summary: "Apply a preview's config to its project, whole or not at all; never its data",
  limit: 'write',
  params: oneProject,
  body: z.strictObject({
    preview,
    dryRun: z.boolean().optional().describe('Tells what would change, and changes nothing'),
  }),
  response: configPlan,
  status: 200,
  errors: setConfig.errors,
});

export const deletePreview = defineRoute({
  ...base,
  operationId: 'deletePreview',
  method: 'DELETE',
  path,
  summary: 'Delete a preview for good',
  limit: 'write',
  params: oneProject,
  query: z.object({ preview }),
  response: ok,
  status: 200,
  errors: ['invalid_query', 'not_found', 'conflict'],
});
