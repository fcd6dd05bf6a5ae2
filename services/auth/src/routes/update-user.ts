import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { presentUser } from '../users.ts';

export const updateUser = ({ users }: Nouns) =>
  route(authRoutes.updateUser, async ({ params, body, identity }) => ({
    body: presentUser(await users.update(identity.project.number, params.userId, body)),
  }));
