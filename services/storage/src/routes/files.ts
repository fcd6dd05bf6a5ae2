import { ApiError, storageRoutes } from '@backlot/contract';
import { requirePower, route } from '@backlot/http';
import { fileNotFound, knowsGroup, requireDeletable, requireOwn } from '../files/file.ts';
import { findSigner } from '../files/readers/signers.ts';
import type { Features } from './features.ts';

export const listFiles = ({ fileLists }: Features) =>
  route(storageRoutes.listFiles, async ({ query, identity }) => {
    const { group, ids } = query;
    if (ids !== undefined) {
      requirePower(identity, 'delete-files', 'look at files of others');
      const items = await fileLists.listThese(identity.project, ids);
      return { body: { items, hasMore: false, nextCursor: null } };
    }
    if (group === undefined) return { body: await fileLists.listOwn(identity, query) };
    if (!knowsGroup(identity, group.toLowerCase()))
      throw new ApiError('not_found', 'There is no such group.');
    return { body: await fileLists.listAll(identity.project, query) };
  });

export const listProjectFiles = ({ fileLists, quota }: Features) =>
  route(storageRoutes.listProjectFiles, async ({ query, identity: { project } }) => ({
    body: { ...(await fileLists.listAll(project, query)), ...(await quota.totals(project.number)) },
  }));

export const listFileTypes = ({ fileLists }: Features) =>
  route(storageRoutes.listFileTypes, async ({ identity: { project } }) => ({
    body: { items: await fileLists.types(project.number), hasMore: false, nextCursor: null },
  }));

export const signFile = ({ files, links, recordFiles, now }: Features) =>
  route(storageRoutes.signFile, async ({ params, body, identity }) => {
    const { id: projectId, number: projectNumber } = identity.project;
    const found = await files.find(projectNumber, params.id);
    const { id: fileId, name } = await recordFiles.requirePassable(identity, found);
    // Whole seconds: what the address says.
    const expiresAt = new Date((Math.floor(now() / 1000) + body.expiresIn) * 1000);
    const address = { projectId, projectNumber, fileId, name };
    const url = links.signed(address, expiresAt, findSigner(identity));
    return { body: { url, expiresAt: expiresAt.toISOString() } };
  });

export const attachFile = ({ files, recordFiles }: Features) =>
  route(storageRoutes.attachFile, async ({ params, body, identity }) => {
    const { number } = identity.project;
    const file = requireOwn(identity, await files.find(number, params.id));
    const { collection, recordId, visibility } = body;
    const record =
      recordId === null
        ? null
        : await recordFiles.place(identity, { collection, recordId: recordId.toLowerCase() });
    if (!(await files.attach(number, file.id, { visibility, record }))) throw fileNotFound();
    return { body: { id: file.id, recordId: record?.recordId ?? null, visibility } };
  });

export const deleteFile = ({ files, removals }: Features) =>
  route(storageRoutes.deleteFile, async ({ params, identity }) => {
    const { number } = identity.project;
    const file = requireDeletable(identity, await files.find(number, params.id));
    if (!(await removals.remove(number, file.id))) throw fileNotFound();
    return { body: { ok: true as const } };
  });
