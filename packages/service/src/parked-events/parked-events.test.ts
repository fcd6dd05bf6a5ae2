import { BusUnavailable } from '@backlot/bus';
import type { Database } from '@backlot/database';
import { expect, it } from '@jest/globals';
import { createParkedEvents } from './parked-events.ts';

it('leaves what the bus keeps where it is while the bus is away, which is no failure of the sweep', async () => {
  let cause: Error = new BusUnavailable('away');
  const { takeAll } = createParkedEvents({
    database: {} as Database,
    scopes: { acrossProjects: (work) => work() },
    bus: {
      redeliver: () => Promise.reject(cause),
      takeDead: () => Promise.reject(cause),
    },
    now: Date.now,
  });
  await takeAll(['q']);
  cause = new Error('broken');
  await expect(takeAll(['q'])).rejects.toThrow('broken');
});
