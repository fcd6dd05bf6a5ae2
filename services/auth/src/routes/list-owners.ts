import { authRoutes, platformProject } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';

export const listOwners = ({ users }: Nouns) =>
  route(authRoutes.listOwners, async ({ query }) => ({
    body: await users.list(platformProject.number, query),
  }));
