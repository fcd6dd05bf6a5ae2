import { authRoutes, platformProject } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { presentUser } from '../users/user-row.ts';

export const listUsers = ({ users }: Features) =>
  route(authRoutes.listUsers, async ({ query, identity }) => ({
    body: await users.list(identity.project.number, query),
  }));

export const updateUser = ({ users }: Features) =>
  route(authRoutes.updateUser, async ({ params, body, identity }) => ({
    body: presentUser(await users.update(identity.project.number, params.userId, body)),
  }));

export const deleteUser = ({ users }: Features) =>
  route(authRoutes.deleteUser, async ({ params, identity }) => {
    await users.erase(identity.project, params.userId);
    return { body: { ok: true as const } };
  });

export const listOwners = ({ users }: Features) =>
  route(authRoutes.listOwners, async ({ query }) => ({
    body: await users.list(platformProject.number, query),
  }));
