import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { presentUser } from '../users.ts';

export const updateMe = ({ users }: Nouns) =>
  route(authRoutes.updateMe, async ({ body, identity }) => {
    const { user } = await users.ofSession(identity);
    const updated = await users.update(identity.project.number, user.id, { name: body.name });
    return { body: { user: presentUser(updated) } };
  });
