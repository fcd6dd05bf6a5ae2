import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { WindowCounts } from '@backlot/service';

const dayMs = 24 * 60 * 60 * 1000;
/** Mails to `owner` a day. */
export const ownerMailsPerDay = { project: 200, address: 10 };

export type OwnerMails = ReturnType<typeof createOwnerMails>;

/** How many mails visitors may send to the owner of a project whose address they do not know. */
export const createOwnerMails = (database: Database, windowCounts: WindowCounts) => ({
  /**
   * Counts one, also where the surrounding transaction is undone. Keys and the owner are not bounded.
   * @throws ApiError visitor_budget
   */
  async count({ project, caller, ip }: Identity): Promise<void> {
    if (caller !== 'anonymous' && caller !== 'user') return;
    const name = `mails to the owner of project ${project.number}`;
    const bounds = [
      { name, windowMs: dayMs, max: ownerMailsPerDay.project },
      { name: `${name} from ${ip}`, windowMs: dayMs, max: ownerMailsPerDay.address },
    ];
    if (await database.detached(() => windowCounts.take(bounds))) return;
    throw new ApiError('visitor_budget', 'The owner has got enough mails from here for today.', {
      retryAfterSeconds: 3600,
    });
  },
});
