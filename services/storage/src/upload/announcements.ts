import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { Quota } from '../files/quota.ts';
import { maxOpenUploads, openedFrom, tooManyOpenUploads } from './open-uploads.ts';

const openSql = `
  SELECT count(*) AS uploads, coalesce(sum(size_bytes), 0)::int8 AS bytes,
         count(*) FILTER (WHERE opened_from = $3) AS own_uploads,
         coalesce(sum(size_bytes) FILTER (WHERE opened_from = $3), 0)::int8 AS own_bytes
    FROM direct_uploads WHERE project_number = $1 AND expires_at > $2`;

interface Open {
  uploads: number;
  bytes: number;
  own_uploads: number;
  own_bytes: number;
}

const noUploads: Open = { uploads: 0, bytes: 0, own_uploads: 0, own_bytes: 0 };

const tooManyAnnouncedBytes = () =>
  new ApiError('overloaded', 'Open uploads may bring too much of what this app has room for.', {
    retryAfterSeconds: 60,
    hint: 'Complete those that have been sent.',
  });

/**
 * What open direct uploads may bring fits into what is left of the quota. It costs nothing to announce it,
 * and so an address takes no more, in number and bytes, than it leaves to others (docs/decisions/0018), and
 * files that are really there do not give way to it.
 */
export const createCheckAnnouncement =
  (database: Database, quota: Pick<Quota, 'lock' | 'left'>, now: () => number) =>
  /** In the transaction that opens the upload. @throws ApiError overloaded, storage_quota */
  async (identity: Identity, sizeBytes: number): Promise<void> => {
    const { number } = identity.project;
    await quota.lock(number);
    const [open = noUploads] = await database.query<Open>(openSql, [
      number,
      new Date(now()),
      openedFrom(identity),
    ]);
    const { uploads, bytes, own_uploads: ownUploads, own_bytes: ownBytes } = open;
    if (ownUploads + 1 > maxOpenUploads - uploads) throw tooManyOpenUploads();
    const left = await quota.left(number);
    if (sizeBytes > left.bytes) throw left.error();
    if (ownBytes + sizeBytes > left.bytes - bytes) throw tooManyAnnouncedBytes();
  };
