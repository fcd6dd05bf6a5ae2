import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { presentUser } from '../users/user-row.ts';

export const getMe = ({ users }: Features) =>
  route(authRoutes.getMe, async ({ identity }) => {
    const { user } = await users.findBySession(identity);
    return { body: { user: presentUser(user) } };
  });

export const updateMe = ({ users }: Features) =>
  route(authRoutes.updateMe, async ({ body, identity }) => {
    const { user } = await users.findBySession(identity);
    const updated = await users.update(identity.project.number, user.id, { name: body.name });
    return { body: { user: presentUser(updated) } };
  });

export const deleteMe = ({ users }: Features) =>
  route(authRoutes.deleteMe, async ({ identity }) => {
    const { user } = await users.findBySession(identity);
    await users.erase(identity.project, user.id);
    return { body: { ok: true as const } };
  });
