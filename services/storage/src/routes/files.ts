import { ApiError, storageRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { fileNotFound, knowsGroup, requireDeletable, requireSignable } from '../files/file.ts';
import { findSigner } from '../files/signers.ts';
import type { Features } from './features.ts';

export const listFiles = ({ files }: Features) =>
  route(storageRoutes.listFiles, async ({ query, identity }) => {
    const { group } = query;
    if (group === undefined) return { body: await files.listOwn(identity, query) };
    if (!knowsGroup(identity, group.toLowerCase()))
      throw new ApiError('not_found', 'There is no such group.');
    return { body: await files.listAll(identity.project, query) };
  });

export const listProjectFiles = ({ files, quota }: Features) =>
  route(storageRoutes.listProjectFiles, async ({ query, identity: { project } }) => ({
    body: { ...(await files.listAll(project, query)), ...(await quota.totals(project.number)) },
  }));

export const signFile = ({ files, links, now }: Features) =>
  route(storageRoutes.signFile, async ({ params, body, identity }) => {
    const { id: projectId, number: projectNumber } = identity.project;
    const { id: fileId, name } = requireSignable(
      identity,
      await files.find(projectNumber, params.id),
    );
    // Whole seconds: what the address says.
    const expiresAt = new Date((Math.floor(now() / 1000) + body.expiresIn) * 1000);
    const address = { projectId, projectNumber, fileId, name };
    const url = links.signed(address, expiresAt, findSigner(identity));
    return { body: { url, expiresAt: expiresAt.toISOString() } };
  });

export const deleteFile = ({ files, removals }: Features) =>
  route(storageRoutes.deleteFile, async ({ params, identity }) => {
    const { number } = identity.project;
    const file = requireDeletable(identity, await files.find(number, params.id));
    if (!(await removals.remove(number, file.id))) throw fileNotFound();
    return { body: { ok: true as const } };
  });
