import { createHmac, hkdfSync } from 'node:crypto';
import { normalizeEmail } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Suppression } from '../tables.ts';

const moveBatch = 1000;

interface Recipients {
  projectNumber: number;
  to: readonly string[];
}

export type Suppressions = ReturnType<typeof createSuppressions>;

/**
 * Addresses that get no more mail of a project. They are kept as keyed hashes, so that nobody reads
 * addresses from them, and they outlive the account that had the address.
 * @param masterKeys the first one's hashes are stored, those of all are found
 */
export const createSuppressions = (database: Database, masterKeys: readonly Buffer[]) => {
  const keys = masterKeys.map((masterKey) =>
    Buffer.from(hkdfSync('sha256', masterKey, '', 'suppressed addresses', 32)),
  );
  const hashes = (projectNumber: number, address: string): Buffer[] =>
    keys.map((key) =>
      createHmac('sha256', key)
        .update(`${projectNumber} ${normalizeEmail(address)}`)
        .digest(),
    );
  const hash = (projectNumber: number, address: string): Buffer => {
    const [current] = hashes(projectNumber, address);
    if (!current) throw new RangeError('Addresses can not be hashed without a master key.');
    return current;
  };

  return {
    hash,

    /** For each mail those of its recipients that get none. */
    async find(mails: readonly Recipients[]): Promise<string[][]> {
      const all = mails.flatMap(({ projectNumber, to }) =>
        to.flatMap((address) =>
          hashes(projectNumber, address).map((hash) => ({ projectNumber, hash })),
        ),
      );
      if (all.length === 0) return mails.map(() => []);
      const rows = await database.named<{ address_hash: Buffer }>(
        'find-suppressed',
        `SELECT address_hash FROM suppressed_addresses
          JOIN unnest($1::bigint[], $2::bytea[]) AS recipient (project_number, address_hash)
            USING (project_number, address_hash)`,
        [all.map((recipient) => recipient.projectNumber), all.map((recipient) => recipient.hash)],
      );
      const suppressed = new Set(rows.map((row) => row.address_hash.toString('hex')));
      return mails.map(({ projectNumber, to }) =>
        to.filter((address) =>
          hashes(projectNumber, address).some((hash) => suppressed.has(hash.toString('hex'))),
        ),
      );
    },

    /** Replaces the addresses that older versions have kept by their hashes. */
    async moveAddresses(): Promise<void> {
      for (let moved = moveBatch; moved === moveBatch; )
        moved = await database.transaction(async () => {
          const rows = await database.query<Suppression>(
            `DELETE FROM suppressions WHERE ctid = ANY (ARRAY(
               SELECT ctid FROM suppressions LIMIT ${moveBatch} FOR UPDATE SKIP LOCKED)) RETURNING *`,
          );
          await database.query(
            `INSERT INTO suppressed_addresses (project_number, address_hash, kind, created_at)
             SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::text[], $4::timestamptz[])
             ON CONFLICT DO NOTHING`,
            [
              rows.map((row) => row.project_number),
              rows.map((row) => hash(row.project_number, row.address)),
              rows.map((row) => row.kind),
              rows.map((row) => row.created_at),
            ],
          );
          return rows.length;
        });
    },
  };
};
