import { ApiError, storageRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';

export const listFiles = ({ files }: Nouns) =>
  route(storageRoutes.listFiles, async ({ query, identity: { project, userId } }) => {
    if (userId === null) throw new ApiError('unauthenticated', 'Sign in first.');
    return { body: await files.mine(project, userId, query) };
  });
