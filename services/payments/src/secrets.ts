import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Sealer } from '@backlot/sealing';
import { z } from 'zod';

const sealedKeys = z.object({
  secretKey: z.string(),
  webhookSecret: z.string().nullable(),
  /** Replaced, and good until then: epoch milliseconds. */
  previous: z.object({ webhookSecret: z.string(), validUntil: z.number() }).nullable(),
});
export type StripeKeys = z.infer<typeof sealedKeys>;

interface SecretRow {
  sealed: Buffer;
  hint: string;
  mode: 'test' | 'live';
  updated_at: Date;
}

export interface StripeSecret {
  name: 'stripe';
  hint: string;
  mode: 'test' | 'live';
  updatedAt: string;
}

/** How long both webhook secrets count, so that the other side can be changed meanwhile. */
export const overlapMs = 24 * 60 * 60 * 1000;

const present = (row: SecretRow): StripeSecret => ({
  name: 'stripe',
  hint: row.hint,
  mode: row.mode,
  updatedAt: row.updated_at.toISOString(),
});
const secretNotFound = () => new ApiError('not_found', 'The project has no keys of its own.');
const contextOf = (projectNumber: number) => `${projectNumber}/stripe`;

export type Secrets = ReturnType<typeof createSecrets>;

/** Keys of projects' own accounts, sealed; nothing of them ever leaves the service. */
export const createSecrets = (database: Database, sealer: Sealer, now: () => number) => {
  const find = async (projectNumber: number, lock = ''): Promise<SecretRow | undefined> => {
    const rows = await database.query<SecretRow>(
      `SELECT sealed, hint, mode, updated_at FROM secrets WHERE project_number = $1 ${lock}`,
      [projectNumber],
    );
    return rows[0];
  };
  const open = (projectNumber: number, sealed: Buffer): StripeKeys =>
    sealedKeys.parse(JSON.parse(sealer.open(sealed, contextOf(projectNumber))));
  const seal = (projectNumber: number, keys: StripeKeys) =>
    sealer.seal(JSON.stringify(keys), contextOf(projectNumber));

  return {
    /** Undefined where the project has none. What an older master key sealed is sealed anew. */
    async keysOf(projectNumber: number): Promise<StripeKeys | undefined> {
      const row = await find(projectNumber);
      if (!row) return undefined;
      const keys = open(projectNumber, row.sealed);
      if (!sealer.isCurrent(row.sealed)) {
        await database.query(
          'UPDATE secrets SET sealed = $3 WHERE project_number = $1 AND sealed = $2',
          [projectNumber, row.sealed, seal(projectNumber, keys)],
        );
      }
      return keys;
    },

    /** Those that may have signed an event. */
    webhookSecretsOf: ({ webhookSecret, previous }: StripeKeys): string[] => [
      ...(webhookSecret === null ? [] : [webhookSecret]),
      ...(previous && previous.validUntil > now() ? [previous.webhookSecret] : []),
    ],

    /** @throws ApiError not_found */
    async get(projectNumber: number): Promise<StripeSecret> {
      const row = await find(projectNumber);
      if (!row) throw secretNotFound();
      return present(row);
    },

    /** A webhook secret that is left out stays as it is. */
    set: (
      projectNumber: number,
      given: { secretKey: string; webhookSecret?: string | undefined },
    ): Promise<StripeSecret> =>
      database.transaction(async () => {
        const stored = await find(projectNumber, 'FOR UPDATE');
        const before = stored && open(projectNumber, stored.sealed);
        const webhookSecret = given.webhookSecret ?? before?.webhookSecret ?? null;
        const replaced = before?.webhookSecret ?? null;
        const keys: StripeKeys = {
          secretKey: given.secretKey,
          webhookSecret,
          previous:
            replaced === null || replaced === webhookSecret
              ? (before?.previous ?? null)
              : { webhookSecret: replaced, validUntil: now() + overlapMs },
        };
        const row: SecretRow = {
          sealed: seal(projectNumber, keys),
          hint: `…${given.secretKey.slice(-4)}`,
          mode: given.secretKey.includes('_live_') ? 'live' : 'test',
          updated_at: new Date(now()),
        };
        await database.query(
          `INSERT INTO secrets (project_number, sealed, hint, mode, updated_at) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (project_number) DO UPDATE SET sealed = excluded.sealed, hint = excluded.hint,
             mode = excluded.mode, updated_at = excluded.updated_at`,
          [projectNumber, row.sealed, row.hint, row.mode, row.updated_at],
        );
        return present(row);
      }),

    /** @throws ApiError not_found */
    async remove(projectNumber: number): Promise<void> {
      const removed = await database.query(
        'DELETE FROM secrets WHERE project_number = $1 RETURNING 1',
        [projectNumber],
      );
      if (removed.length === 0) throw secretNotFound();
    },
  };
};
