import { authRoutes, platformProject } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { requireRecentProof } from '../sign-in/recent-proof.ts';

export const getMe = ({ users, database }: Features) =>
  route(authRoutes.getMe, async ({ identity }) => {
    const { caller, project } = identity;
    if (caller !== 'owner') {
      const { user } = await users.findBySession(identity);
      return { body: { user: users.present(user) } };
    }
    const { number } = platformProject;
    const asOwner = { ...identity, project: { ...project, number } };
    const { user } = await database.inProject(number, () => users.findBySession(asOwner));
    return { body: { user: users.present(user), caller } };
  });

export const updateMe = ({ users }: Features) =>
  route(authRoutes.updateMe, async ({ body, identity }) => {
    const { user } = await users.findBySession(identity);
    const updated = await users.update(identity.project.number, user.id, body);
    return { body: { user: users.present(updated) } };
  });

export const deleteMe = ({ users }: Features) =>
  route(authRoutes.deleteMe, async ({ identity }) => {
    const signedIn = await users.findBySession(identity);
    const { user } = signedIn;
    // A guest has nothing to show but the session.
    if (!user.is_guest) requireRecentProof(signedIn);
    await users.erase(identity.project, user.id);
    return { body: { ok: true as const } };
  });
