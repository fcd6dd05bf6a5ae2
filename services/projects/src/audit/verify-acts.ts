import { auditRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Logger } from '@backlot/telemetry';
import { findFault, firstHash, platformChain, type StoredLine } from './chain.ts';
import type { Reader } from './list-acts.ts';

const linesAtOnce = 500;
const chainsAtOnce = 200;
const mostBroken = 100;
/** A chain is read from its beginning again after that long. */
const wholeEveryMs = 24 * 3600 * 1000;

interface Chain {
  chain: string;
  last_seq: number;
  last_hash: Buffer;
  checked_seq: number;
  checked_hash: Buffer;
  is_due_whole: boolean;
}

export interface Verification {
  chains: number;
  lines: number;
  checkedAt: string | null;
  broken: { ownerId: string | null; seq: number; reason: string }[];
}

export interface VerifyDeps {
  database: Database;
  log: Pick<Logger, 'error'>;
  /** Epoch milliseconds. */
  now: () => number;
}

/** Finds lines that were changed, left out or put in; what was found right is read again once a day alone. */
export const createVerifyActs = ({ database, log, now }: VerifyDeps) => {
  const readLines = (chain: string, after: number, last: number) =>
    database.query<StoredLine>(
      `SELECT seq, audit_lines.id, audit_lines.at, content, hash, details, salt,
              audit_lines.at < $4 OR EXISTS (SELECT FROM audit_erasures
                WHERE user_id IN (chain, content::jsonb #>> '{actor,userId}')) AS may_lack_details
         FROM audit_lines LEFT JOIN audit_details USING (id)
        WHERE chain = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT ${linesAtOnce}`,
      [chain, after, last, new Date(now() - auditRoutes.keptDetailDays * 24 * 3600 * 1000)],
    );

  const findBroken = async ({ chain, ...known }: Chain) => {
    let before = known.is_due_whole
      ? { seq: 0, hash: firstHash }
      : { seq: known.checked_seq, hash: known.checked_hash };
    while (before.seq < known.last_seq) {
      const lines = await readLines(chain, before.seq, known.last_seq);
      if (lines.length === 0)
        return { before, seq: before.seq + 1, reason: 'It is missing, with all behind it.' };
      for (const line of lines) {
        const reason = findFault(chain, before, line);
        if (reason !== undefined) return { before, seq: before.seq + 1, reason };
        before = { seq: line.seq, hash: line.hash };
      }
    }
    return before.hash.equals(known.last_hash)
      ? { before }
      : { before, seq: before.seq, reason: 'It is not the last line that was written.' };
  };

  const verify = async (chain: Chain): Promise<void> => {
    const { before, seq = null, reason = null } = await findBroken(chain);
    if (seq !== null) log.error({ chain: chain.chain, seq, reason }, 'the audit log is broken');
    await database.query(
      `UPDATE audit_chains SET checked_seq = $2, checked_hash = $3, checked_at = $4, broken_seq = $5, broken_reason = $6,
              read_whole_at = CASE WHEN $7 THEN $4 ELSE read_whole_at END
        WHERE chain = $1`,
      [chain.chain, before.seq, before.hash, new Date(now()), seq, reason, chain.is_due_whole],
    );
  };

  return {
    /** Looks at chains that have grown, or were not read whole for a day. */
    async verifyDue(): Promise<void> {
      const due = await database.query<Chain>(
        `SELECT chain, last_seq, last_hash, checked_seq, checked_hash,
                coalesce(read_whole_at <= $1, true) OR broken_seq IS NOT NULL AS is_due_whole
           FROM audit_chains
          WHERE checked_seq < last_seq OR read_whole_at IS NULL OR read_whole_at <= $1 OR broken_seq IS NOT NULL
          ORDER BY checked_at NULLS FIRST LIMIT ${chainsAtOnce}`,
        [new Date(now() - wholeEveryMs)],
      );
      for (const chain of due) await verify(chain);
    },

    async last(reader: Reader): Promise<Verification> {
      const own = reader?.ownerId ?? null;
      const [sums] = await database.query<{ chains: number; lines: number; at: Date | null }>(
        `SELECT count(*)::int4 AS chains, coalesce(sum(last_seq), 0)::int8 AS lines, min(checked_at) AS at
           FROM audit_chains WHERE $1::text IS NULL OR chain = $1`,
        [own],
      );
      const broken = await database.query<{ chain: string; seq: number; reason: string }>(
        `SELECT chain, broken_seq AS seq, broken_reason AS reason FROM audit_chains
          WHERE broken_seq IS NOT NULL AND ($1::text IS NULL OR chain = $1) ORDER BY chain LIMIT ${mostBroken}`,
        [own],
      );
      return {
        chains: sums?.chains ?? 0,
        lines: sums?.lines ?? 0,
        checkedAt: sums?.at?.toISOString() ?? null,
        broken: broken.map(({ chain, ...fault }) => ({
          ownerId: chain === platformChain ? null : chain,
          ...fault,
        })),
      };
    },
  };
};
