import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';

export const deleteUser = ({ users }: Nouns) =>
  route(authRoutes.deleteUser, async ({ params, identity }) => {
    await users.erase(identity.project, params.userId);
    return { body: { ok: true as const } };
  });
