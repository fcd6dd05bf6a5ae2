import { storageRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { checkMayChange } from '../access.ts';
import { fileNotFound } from '../files.ts';
import type { Nouns } from '../nouns.ts';

export const deleteFile = ({ files, removals }: Nouns) =>
  route(storageRoutes.deleteFile, async ({ params, identity }) => {
    const { number } = identity.project;
    const file = checkMayChange(identity, await files.find(number, params.id));
    if (!(await removals.remove(number, file.id))) throw fileNotFound();
    return { body: { ok: true as const } };
  });
