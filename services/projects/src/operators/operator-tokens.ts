import { hash, randomBytes } from 'node:crypto';
import {
  ApiError,
  bootstrapOperator,
  type EventPayloads,
  isUuid,
  type OperatorDirectory,
  type OperatorScope,
  type OperatorSnapshot,
  type StoredOperatorToken,
} from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { Logger } from '@backlot/telemetry';
import type { Selectable } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { DB as Tables, OperatorToken as TokenRow } from '../tables.ts';

export interface NewOperatorToken {
  name: string;
  scope: OperatorScope;
  /** ISO 8601. */
  expiresAt?: string | undefined;
}

const tokenBytes = 32;
const sha256Bytes = 32;
const maxTokens = 100;
const dayMs = 24 * 60 * 60_000;
const usualMs = 90 * dayMs;
const longestMs = 366 * dayMs;
/** Gateways ask every few seconds for a token in use. */
const lastUseStepMs = 5 * 60_000;

const present = (row: Omit<Selectable<TokenRow>, 'hash'>): StoredOperatorToken => ({
  id: row.id,
  name: row.name,
  // The table's CHECK allows no others.
  scope: row.scope as OperatorScope,
  createdAt: row.created_at.toISOString(),
  createdBy: row.created_by,
  expiresAt: row.expires_at.toISOString(),
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
});

/** Gateways of before name no operator: they knew BACKLOT_OPERATOR_TOKEN alone. */
export const readOperator = ({ operator = bootstrapOperator }: Pick<Identity, 'operator'>) =>
  operator as Pick<OperatorSnapshot, 'name' | 'scope'>;

export interface OperatorTokensDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  now: () => number;
  log: Pick<Logger, 'warn'>;
}

export type OperatorTokens = ReturnType<typeof createOperatorTokens>;

/** What people and programs operate the platform with: only the SHA-256 is kept of 256 random bits. */
export const createOperatorTokens = ({ database, outbox, now, log }: OperatorTokensDeps) => {
  const queries = createQueries<Tables>(database);

  const chooseEnd = (expiresAt: string | undefined): Date => {
    if (expiresAt === undefined) return new Date(now() + usualMs);
    const end = new Date(expiresAt);
    if (end.getTime() > now() && end.getTime() <= now() + longestMs) return end;
    throw new ApiError('invalid_body', '"expiresAt": must be a time to come, within a year.');
  };

  const checkBound = async () => {
    await database.query("SELECT pg_advisory_xact_lock(hashtextextended('operator tokens', 0))");
    const { count } = await queries
      .selectFrom('operator_tokens')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    if (count >= maxTokens)
      throw new ApiError('limit_reached', `There may be at most ${maxTokens} operators’ tokens.`, {
        hint: 'Revoke one that is no longer used.',
      });
  };

  /** A token is good also where its use can't be noted. */
  const noteUse = (id: string) =>
    database
      .query('UPDATE operator_tokens SET last_used_at = $2 WHERE id = $1', [id, new Date(now())])
      .catch((error: unknown) => log.warn({ err: error }, 'could not note the use of a token'));

  return {
    /**
     * The token itself is in this answer only.
     * @throws ApiError invalid_body, conflict, limit_reached
     */
    create: (
      { name, scope, expiresAt }: NewOperatorToken,
      createdBy: string,
    ): Promise<StoredOperatorToken & { token: string }> =>
      database.transaction(async () => {
        const end = chooseEnd(expiresAt);
        await checkBound();
        const token = `bo_${randomBytes(tokenBytes).toString('base64url')}`;
        const row = {
          id: uuidv7(),
          name,
          scope,
          created_at: new Date(now()),
          created_by: createdBy,
          expires_at: end,
        };
        const stored = await queries
          .insertInto('operator_tokens')
          .values({ ...row, hash: hash('sha256', token, 'buffer') })
          .onConflict((conflict) => conflict.column('name').doNothing())
          .returning('id')
          .executeTakeFirst();
        if (!stored)
          throw new ApiError('conflict', `There is a token "${name}" already.`, {
            hint: 'Revoke it first, or take another name.',
          });
        return { ...present({ ...row, last_used_at: null }), token };
      }),

    async list(): Promise<StoredOperatorToken[]> {
      const rows = await queries
        .selectFrom('operator_tokens')
        .select(['id', 'name', 'scope', 'created_at', 'created_by', 'expires_at', 'last_used_at'])
        .orderBy('id', 'desc')
        .limit(maxTokens)
        .execute();
      return rows.map(present);
    },

    /** Ends the token at once. @throws ApiError not_found */
    revoke: (id: string): Promise<void> =>
      database.transaction(async () => {
        const row = isUuid(id)
          ? await queries
              .deleteFrom('operator_tokens')
              .where('id', '=', id)
              .returning('hash')
              .executeTakeFirst()
          : undefined;
        if (!row) throw new ApiError('not_found', 'There is no such token.');
        await outbox.append('operator-token.revoked', {
          tokenHash: row.hash.toString('base64url'),
        });
      }),

    /** Asked by the gateway on a cache miss: one prepared statement, one round trip. */
    async findOperator(tokenHash: string): Promise<OperatorSnapshot | null> {
      const bytes = Buffer.from(tokenHash, 'base64url');
      if (bytes.length !== sha256Bytes || bytes.toString('base64url') !== tokenHash) return null;
      const [row] = await database.read(
        'find-operator',
        `SELECT id, name, scope, (extract(epoch FROM expires_at) * 1000)::int8,
                (extract(epoch FROM last_used_at) * 1000)::int8
           FROM operator_tokens WHERE hash = $1`,
        [bytes],
      );
      if (!row?.[0]) return null;
      const [id, name, scope, expiresAtMs, lastUsedAtMs] = row;
      if (now() - Number(lastUsedAtMs ?? 0) >= lastUseStepMs) await noteUse(id);
      return {
        name: name ?? '',
        scope: scope as OperatorScope,
        expiresAtMs: Number(expiresAtMs),
      };
    },
  } satisfies OperatorDirectory & Record<string, unknown>;
};
