import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';

export const listUsers = ({ users }: Nouns) =>
  route(authRoutes.listUsers, async ({ query, identity }) => ({
    body: await users.list(identity.project.number, query),
  }));
