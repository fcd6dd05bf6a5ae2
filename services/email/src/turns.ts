import type { Database } from '@backlot/database';
import { uuidv7 } from 'uuidv7';
import { type MailRow, outgoingOf } from './mail.ts';
import type { OutgoingMail } from './mailer/mailer.ts';

/** A mail that this worker alone may hand over, until its lease ends. */
export interface ClaimedMail extends OutgoingMail {
  claim: string;
  /** This attempt counted. */
  attempts: number;
  /** Recipients that get no mail of this project. */
  suppressed: readonly string[];
  /** The project was stopped after the mail was accepted; the platform's own mails still go. */
  isStopped: boolean;
}

/** Short, so that no mail waits long for a worker that is dead; a live one renews it. */
export const leaseMs = 30_000;

/** Queues that one statement looks into, and statements until it is another wake-up's business. */
const queuesPerLook = 100;
const maxLooks = 100;

interface ClaimedRow extends MailRow {
  project_number: number;
  project_id: string;
  attempts: number;
  suppressed: string[];
  is_stopped: boolean;
}

/** Of each mail, or once with none: which queue was served last, and whether none is due. */
type TurnRow = { last_project: number; last_is_own: boolean; is_over: boolean } & (
  | ClaimedRow
  | { id: null }
);

const claimedOf = (row: ClaimedRow, claim: string): ClaimedMail => ({
  ...outgoingOf(row, { id: row.project_id, number: row.project_number }),
  claim,
  attempts: row.attempts,
  suppressed: row.suppressed,
  isStopped: row.is_stopped,
});

/**
 * From queue to queue, beginning behind the one that was served last; each step is one look into an
 * index. Those with due mails share the batch evenly. What is left over is the next batch's.
 */
const claimInTurn = `WITH RECURSIVE turn (project_number, is_own, has_wrapped, step) AS (
    SELECT $5::bigint, $6::boolean, false, 0
     UNION ALL
    SELECT next.project_number, next.is_own, next.has_wrapped, step + 1
      FROM turn CROSS JOIN LATERAL (
        (SELECT project_number, is_own, turn.has_wrapped AS has_wrapped FROM mails
          WHERE status = 'queued' AND (project_number, is_own) > (turn.project_number, turn.is_own)
          ORDER BY project_number, is_own LIMIT 1)
        UNION ALL
        (SELECT project_number, is_own, true FROM mails WHERE status = 'queued' AND NOT turn.has_wrapped
          ORDER BY project_number, is_own LIMIT 1)
        ORDER BY has_wrapped LIMIT 1) AS next
     WHERE step < ${queuesPerLook}
       AND (NOT next.has_wrapped OR (next.project_number, next.is_own) <= ($5, $6))),
  served AS (
    SELECT turn.* FROM turn CROSS JOIN LATERAL (
        SELECT FROM mails WHERE status = 'queued' AND mails.project_number = turn.project_number
           AND mails.is_own = turn.is_own AND next_attempt_at <= $1
           AND NOT EXISTS (SELECT FROM held_projects AS held WHERE held.project_number = turn.project_number)
         ORDER BY next_attempt_at LIMIT 1) AS due
     WHERE step > 0 LIMIT $2),
  taken AS (
    SELECT mail.* FROM served CROSS JOIN LATERAL (
        SELECT project_number, id FROM mails WHERE status = 'queued' AND mails.project_number = served.project_number
           AND mails.is_own = served.is_own AND next_attempt_at <= $1
         ORDER BY next_attempt_at LIMIT (SELECT ceil($2::numeric / count(*)) FROM served)
           FOR UPDATE SKIP LOCKED) AS mail
     LIMIT $2),
  claimed AS (
    UPDATE mails SET status = 'sending', attempts = attempts + 1, claim = $3, lease_until = $4,
           handed_over_at = NULL
      FROM taken WHERE mails.project_number = taken.project_number AND mails.id = taken.id
    RETURNING mails.project_number, mails.id, project_id, recipients, from_name, from_address,
      subject, html, plain_text, created_at, status, is_secret, error, attempts, ARRAY(
        SELECT recipient FROM unnest(recipients) AS recipient
          JOIN suppressions ON suppressions.project_number = mails.project_number
           AND suppressions.address = lower(recipient)) AS suppressed,
        NOT is_own AND EXISTS (SELECT FROM sending_stops WHERE resumed_at IS NULL
           AND sending_stops.project_number = mails.project_number) AS is_stopped)
  SELECT last.project_number AS last_project, last.is_own AS last_is_own, last.is_over, claimed.*
    FROM (
      (SELECT *, false AS is_over FROM served ORDER BY step DESC LIMIT 1)
      UNION ALL
      (SELECT *, step < ${queuesPerLook} FROM turn WHERE NOT EXISTS (SELECT FROM served) ORDER BY step DESC LIMIT 1)
    ) AS last LEFT JOIN claimed ON true`;

/**
 * Whose mails go next. A project's mails are one queue and the platform's own for it another, so that
 * neither 10,000 mails of one project nor 10,000 sign-ups hold up anybody else.
 */
export const createTurns = (database: Database, now: () => number) => {
  // No project has this number: it begins with the first one.
  let last = { project: 0, isOwn: false };

  return {
    /** Up to `limit` mails that are due and not held; no two workers get the same. */
    async claim(limit: number): Promise<ClaimedMail[]> {
      for (let look = 0; look < maxLooks; look++) {
        const claim = uuidv7();
        const rows = await database.named<TurnRow>('claim-mails', claimInTurn, [
          ...[new Date(now()), limit, claim, new Date(now() + leaseMs)],
          ...[last.project, last.isOwn],
        ]);
        const [first] = rows;
        if (!first) throw new Error('A look has ended nowhere.');
        last = { project: first.last_project, isOwn: first.last_is_own };
        const mails = rows.flatMap((row) => (row.id === null ? [] : [claimedOf(row, claim)]));
        // Due queues without mails: another worker has locked them, but not those behind them.
        if (mails.length > 0 || first.is_over) return mails;
      }
      return [];
    },
  };
};

export type Turns = ReturnType<typeof createTurns>;
