import { hash } from 'node:crypto';
import type { Database } from '@backlot/database';
import { toWideNetwork } from '@backlot/http';
import { nameDevice } from './device.ts';
import type { EventCaller } from './place.ts';

/** Of one user; those not seen for longest are forgotten. */
const maxDevices = 20;

/** From which devices a user has signed in: by browser, system and wide network, as SHA-256. */
export const createDevices = (database: Database, now: () => number) => ({
  /** Remembers it. Answers whether the user has signed in before, and never from there. Belongs into a transaction that has locked the user. */
  async isNew({ project, ip, userAgent }: EventCaller, userId: string): Promise<boolean> {
    const device = hash(
      'sha256',
      `device\n${nameDevice(userAgent)}\n${toWideNetwork(ip)}`,
      'buffer',
    );
    const [found] = await database.named<{ known: number; is_known: boolean | null }>(
      'see_device',
      `WITH known AS (
         SELECT device FROM known_devices WHERE project_number = $1 AND user_id = $2
       ), seen AS (
         INSERT INTO known_devices (project_number, user_id, device, last_seen_at)
         SELECT $1, id, $3, $4 FROM users WHERE project_number = $1 AND id = $2
         ON CONFLICT (project_number, user_id, device) DO UPDATE SET last_seen_at = excluded.last_seen_at
       ), forgotten AS (
         DELETE FROM known_devices WHERE project_number = $1 AND user_id = $2 AND device IN (
           SELECT device FROM known_devices WHERE project_number = $1 AND user_id = $2 AND device <> $3
            ORDER BY last_seen_at DESC OFFSET $5)
       )
       SELECT count(*)::int4 AS known, bool_or(device = $3) AS is_known FROM known`,
      [project.number, userId, device, new Date(now()), maxDevices - 1],
    );
    return found !== undefined && found.known > 0 && found.is_known === false;
  },
});
