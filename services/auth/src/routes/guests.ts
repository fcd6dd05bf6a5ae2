import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { hasGuests } from '../sign-in/sign-up-rules.ts';

const noGuests = () =>
  new ApiError('forbidden', 'This app has no guests.', {
    hint: 'The owner of the app can set "guests" to true.',
  });

export const createGuest = (features: Features) =>
  route(authRoutes.createGuest, async ({ identity }) => {
    const { users, guests, attempts, counters, beginSession, database } = features;
    const { project, ip } = identity;
    if (!hasGuests(project)) throw noGuests();
    const guest = users.create({
      email: null,
      name: null,
      passwordHash: null,
      emailVerified: false,
    });
    const counted = counters.guests(ip);
    const begun = await attempts.countCalls(project.number, counted, () =>
      beginSession(identity, guest, { method: 'guest' }),
    );
    return {
      body: begun.body,
      commit: () =>
        database.transaction(async () => {
          await guests.add(project, guest);
          if (!(await begun.commit()))
            throw new ApiError('internal', 'The new guest has no session.');
        }),
    };
  });
