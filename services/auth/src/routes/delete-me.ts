import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';

export const deleteMe = ({ users }: Nouns) =>
  route(authRoutes.deleteMe, async ({ identity }) => {
    const { user } = await users.ofSession(identity);
    await users.erase(identity.project, user.id);
    return { body: { ok: true as const } };
  });
