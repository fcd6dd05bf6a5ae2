import { authRoutes, platformProject } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { presentUser } from '../users/user-row.ts';

export const getMe = ({ users, database }: Features) =>
  route(authRoutes.getMe, async ({ identity }) => {
    const { caller, project } = identity;
    if (caller !== 'owner') {
      const { user } = await users.findBySession(identity);
      return { body: { user: presentUser(user) } };
    }
    const { number } = platformProject;
    const asOwner = { ...identity, project: { ...project, number } };
    const { user } = await database.inProject(number, () => users.findBySession(asOwner));
    return { body: { user: presentUser(user), caller } };
  });

export const updateMe = ({ users }: Features) =>
  route(authRoutes.updateMe, async ({ body, identity }) => {
    const { user } = await users.findBySession(identity);
    const updated = await users.update(identity.project.number, user.id, body);
    return { body: { user: presentUser(updated) } };
  });

export const deleteMe = ({ users }: Features) =>
  route(authRoutes.deleteMe, async ({ identity }) => {
    const { user } = await users.findBySession(identity);
    await users.erase(identity.project, user.id);
    return { body: { ok: true as const } };
  });
