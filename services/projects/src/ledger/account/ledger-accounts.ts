import type { EventPayloads } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import {
  type Grant,
  type LedgerAccount,
  type LedgerAccountState,
  openLedgerAccount,
} from './ledger-account.ts';
import {
  type GrantRow,
  grantColumns,
  type LedgerAccountRow,
  lineColumns,
  toAccountState,
  toGrant,
} from './ledger-account-rows.ts';

export interface LedgerAccountsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  now: () => number;
}

export interface BookedLine {
  seq: number;
  since: number;
  millicredits: number;
}

export type LedgerAccounts = ReturnType<typeof createLedgerAccounts>;

/** Owners' accounts in PostgreSQL. The row of an account is the only lock of a booking. */
export const createLedgerAccounts = ({ database, outbox, now }: LedgerAccountsDeps) => {
  const lock = async (ownerId: string): Promise<LedgerAccountState> => {
    const find = async () => {
      const [row] = await database.named<LedgerAccountRow>(
        'lock-account',
        `SELECT number, owner_id, balance_millicredits, seq, period, used_millicredits, warned_percent
           FROM accounts WHERE owner_id = $1 FOR NO KEY UPDATE`,
        [ownerId],
      );
      return row && toAccountState(row);
    };
    const found = await find();
    if (found) return found;
    await database.query(
      `INSERT INTO accounts (kind, owner_id, created_at) VALUES ('owner', $1, $2) ON CONFLICT (owner_id) DO NOTHING`,
      [ownerId, new Date(now())],
    );
    const created = await find();
    if (!created) throw new Error(`The account of ${ownerId} is gone.`);
    return created;
  };

  const findGrants = async (account: number, usedSince: number): Promise<Grant[]> => {
    const rows = await database.named<GrantRow>(
      'grants-of-account',
      `SELECT id, amount_millicredits, remaining_millicredits, lapsed_millicredits, expires_at, period, reason
         FROM grants
        WHERE owner_account = $1
          AND (remaining_millicredits > 0 OR (lapsed_millicredits > 0 AND expires_at > $2))`,
      [account, new Date(usedSince)],
    );
    return rows.map(toGrant);
  };

  /** In one round trip. */
  const save = (account: LedgerAccount, at: number) => {
    const { state, lines, changedGrants } = account;
    return database.named(
      'save-account',
      `WITH changed_grants AS (
         INSERT INTO grants (owner_account, id, amount_millicredits, remaining_millicredits,
                             lapsed_millicredits, expires_at, period, reason, reversed_at, reversal_reason, created_at)
         SELECT $1, id, amount_millicredits, remaining_millicredits, lapsed_millicredits, expires_at, period, reason,
                reversed_at, reversal_reason, $2
           FROM jsonb_to_recordset($3) AS changed (id uuid, amount_millicredits int8, remaining_millicredits int8,
                lapsed_millicredits int8, expires_at timestamptz, period text, reason text, reversed_at timestamptz,
                reversal_reason text)
         ON CONFLICT (id) DO UPDATE SET remaining_millicredits = excluded.remaining_millicredits,
                                        lapsed_millicredits = excluded.lapsed_millicredits,
                                        reversed_at = excluded.reversed_at,
                                        reversal_reason = excluded.reversal_reason
       ), new_lines AS (
         INSERT INTO transfers (owner_account, id, seq, kind, from_account, to_account, amount_millicredits, grant_id,
                                call_id, project_number, project_id, route, units, occurred_at, created_at)
         SELECT $1, id, seq, kind, from_account, to_account, amount_millicredits, grant_id,
                call_id, project_number, project_id, route, units, occurred_at, $2
           FROM jsonb_to_recordset($4) AS line (id uuid, seq int8, kind text, from_account int8, to_account int8,
                amount_millicredits int8, grant_id uuid, call_id uuid, project_number int8, project_id text, route text,
                units jsonb, occurred_at timestamptz)
       )
       UPDATE accounts SET balance_millicredits = $5, seq = $6, period = $7, used_millicredits = $8, warned_percent = $9
        WHERE number = $1`,
      [
        state.number,
        new Date(at),
        JSON.stringify([...changedGrants].map(grantColumns)),
        JSON.stringify(lines.map((line) => lineColumns(line, at))),
        state.balance,
        state.seq,
        state.period,
        state.used,
        state.warnedPercent,
      ],
    );
  };

  return {
    /**
     * Locks the owner's account, opening it where there is none, lets `work` change it and saves that.
     * Belongs into a transaction.
     * @param usedSince the oldest time for which usage may be booked; epoch milliseconds
     */
    async change(
      ownerId: string,
      work: (account: LedgerAccount) => Promise<void> | void,
      usedSince = Number.POSITIVE_INFINITY,
    ): Promise<LedgerAccount> {
      const stored = await lock(ownerId);
      const at = now();
      const grants = await findGrants(stored.number, Math.min(usedSince, at));
      const account = openLedgerAccount(stored, grants, at);
      await work(account);
      if (account.lines.length > 0 || account.state.period !== stored.period)
        await save(account, at);
      for (const { percent, balance } of account.warnings) {
        await outbox.append('credits.low', {
          ownerId: stored.ownerId,
          percent,
          balanceMillicredits: balance,
        });
      }
      return account;
    },

    /** Null where there is none. */
    async findGrant(grantId: string): Promise<{ ownerId: string; isReversed: boolean } | null> {
      const [row] = await database.query<{ owner_id: string; is_reversed: boolean }>(
        `SELECT owner_id, reversed_at IS NOT NULL AS is_reversed
           FROM grants JOIN accounts ON number = owner_account WHERE id = $1`,
        [grantId],
      );
      return row ? { ownerId: row.owner_id, isReversed: row.is_reversed } : null;
    },

    /** Those of `callIds` that have a line: its number, since when (epoch milliseconds), and its amount. */
    async booked(account: number, callIds: readonly string[]): Promise<Map<string, BookedLine>> {
      const rows = await database.named<{
        call_id: string;
        seq: number;
        created_at: Date;
        amount_millicredits: number;
      }>(
        'booked-calls',
        `SELECT call_id, seq, created_at, amount_millicredits FROM transfers WHERE owner_account = $1 AND kind = 'debit' AND call_id = ANY($2::uuid[])`,
        [account, [...callIds]],
      );
      return new Map(
        rows.map(
          ({ call_id: callId, seq, created_at: since, amount_millicredits: millicredits }) => [
            callId,
            { seq, since: since.getTime(), millicredits },
          ],
        ),
      );
    },

    /** The account as it is stored, without a lock; null where the owner has none. */
    async find(ownerId: string): Promise<(LedgerAccountState & { isDue: boolean }) | null> {
      const [row] = await database.named<LedgerAccountRow & { is_due: boolean }>(
        'find-account',
        `SELECT number, owner_id, balance_millicredits, seq, period, used_millicredits, warned_percent,
                EXISTS (SELECT FROM grants WHERE owner_account = number AND remaining_millicredits > 0
                                             AND expires_at <= $2) AS is_due
           FROM accounts WHERE owner_id = $1`,
        [ownerId, new Date(now())],
      );
      return row ? { ...toAccountState(row), isDue: row.is_due } : null;
    },

    /** Owners of accounts after `after` with grants that are past their time; by account number. */
    expiring: (after: number, limit: number) =>
      database.query<{ number: number; owner_id: string }>(
        `SELECT number, owner_id FROM accounts
          WHERE number > $1 AND number IN (
            SELECT owner_account FROM grants WHERE remaining_millicredits > 0 AND expires_at <= $2)
          ORDER BY number LIMIT $3`,
        [after, new Date(now()), limit],
      ),

    /** Owners of accounts after `after` who used credits in a month before this; by account number. */
    activeBefore: (period: string, after: number, limit: number) =>
      database.query<{ number: number; owner_id: string }>(
        `SELECT number, owner_id FROM accounts
          WHERE number > $1 AND owner_id IS NOT NULL AND period < $2 AND used_millicredits > 0
          ORDER BY number LIMIT $3`,
        [after, period, limit],
      ),
  };
};
