import { ApiError, storageRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { fileNotFound, requireManageable } from '../files/file.ts';
import type { Features } from './features.ts';

export const listFiles = ({ files }: Features) =>
  route(storageRoutes.listFiles, async ({ query, identity: { project, userId } }) => {
    if (userId === null) throw new ApiError('unauthenticated', 'Sign in first.');
    return { body: await files.listOwn(project, userId, query) };
  });

export const listProjectFiles = ({ files, quota }: Features) =>
  route(storageRoutes.listProjectFiles, async ({ query, identity: { project } }) => ({
    body: { ...(await files.listAll(project, query)), ...(await quota.totals(project.number)) },
  }));

export const signFile = ({ files, links, now }: Features) =>
  route(storageRoutes.signFile, async ({ params, body, identity }) => {
    const { id: projectId, number: projectNumber } = identity.project;
    const { id: fileId, name } = requireManageable(
      identity,
      await files.find(projectNumber, params.id),
    );
    // Whole seconds: what the address says.
    const expiresAt = new Date((Math.floor(now() / 1000) + body.expiresIn) * 1000);
    const url = links.signed({ projectId, projectNumber, fileId, name }, expiresAt);
    return { body: { url, expiresAt: expiresAt.toISOString() } };
  });

export const deleteFile = ({ files, removals }: Features) =>
  route(storageRoutes.deleteFile, async ({ params, identity }) => {
    const { number } = identity.project;
    const file = requireManageable(identity, await files.find(number, params.id));
    if (!(await removals.remove(number, file.id))) throw fileNotFound();
    return { body: { ok: true as const } };
  });
