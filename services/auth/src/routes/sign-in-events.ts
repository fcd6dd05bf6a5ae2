import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { requireUser } from './user-sessions.ts';

export const listMyEvents = ({ users, signInEvents }: Features) =>
  route(authRoutes.listMyEvents, async ({ query, identity }) => {
    const { user } = await users.findBySession(identity);
    return { body: await signInEvents.list(identity.project.number, user.id, query) };
  });

export const listUserEvents = (features: Features) =>
  route(authRoutes.listUserEvents, async ({ params, query, identity: { project } }) => {
    const user = await requireUser(features, project.number, params.userId);
    return { body: await features.signInEvents.list(project.number, user.id, query) };
  });
