import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { presentUser } from '../users.ts';

export const getMe = ({ users }: Nouns) =>
  route(authRoutes.getMe, async ({ identity }) => {
    const { user } = await users.ofSession(identity);
    return { body: { user: presentUser(user) } };
  });
