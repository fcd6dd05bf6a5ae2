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

/** The lease ended and another worker, or nobody, has the mail. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** Longer than any mailer's patience with one mail. */
const leaseMs = 10 * 60_000;
const expiryBatch = 100;

export const maxAttempts = 15;
const firstDelayMs = 30_000;
const longestDelayMs = 4 * 60 * 60_000;
const jitter = 0.2;

/**
 * 30 s, doubled up to 4 h, each time up to a fifth more or less: 15 attempts take about a day.
 * @param random from 0 to 1
 */
export const retryDelayMs = (attempts: number, random: number): number =>
  Math.min(firstDelayMs * 2 ** (attempts - 1), longestDelayMs) * (1 + jitter * (2 * random - 1));

interface ClaimedRow extends MailRow {
  project_number: number;
  project_id: string;
  attempts: number;
  suppressed: string[];
  is_stopped: boolean;
}

const claimedOf = (row: ClaimedRow, claim: string): ClaimedMail => ({
  ...outgoingOf(row, { id: row.project_id, number: row.project_number }),
  claim,
  attempts: row.attempts,
  suppressed: row.suppressed,
  isStopped: row.is_stopped,
});

export interface DeliveriesDeps {
  database: Database;
  /** Epoch milliseconds. */
  now: () => number;
  random: () => number;
  /** The mailer may be handed a mail again whose handing over was cut off. */
  isRepeatable: boolean;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

/** The queue that the table of mails is: what is due, who has it, what became of it. */
export const createDeliveries = ({ database, now, random, isRepeatable }: DeliveriesDeps) => {
  const keyOf = ({ projectNumber, id, claim }: ClaimedMail) => [projectNumber, id, claim];
  const isMine = "project_number = $1 AND id = $2 AND claim = $3 AND status = 'sending'";

  return {
    /** Up to `limit` mails that are due and not held, the platform's own first; no two workers get the same. */
    async claim(limit: number): Promise<ClaimedMail[]> {
      const claim = uuidv7();
      const rows = await database.named<ClaimedRow>(
        'claim-mails',
        `WITH due AS (
           SELECT project_number, id FROM mails WHERE status = 'queued' AND next_attempt_at <= $1
              AND NOT EXISTS (SELECT FROM held_projects AS held WHERE held.project_number = mails.project_number)
            ORDER BY is_own DESC, next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED)
         UPDATE mails SET status = 'sending', attempts = attempts + 1, claim = $3, lease_until = $4,
                handed_over_at = NULL
           FROM due WHERE mails.project_number = due.project_number AND mails.id = due.id
         RETURNING mails.project_number, mails.id, project_id, recipients, from_name, from_address,
           subject, html, plain_text, created_at, status, is_secret, error, attempts, ARRAY(
             SELECT recipient FROM unnest(recipients) AS recipient
               JOIN suppressions ON suppressions.project_number = mails.project_number
                AND suppressions.address = lower(recipient)) AS suppressed,
             NOT is_own AND EXISTS (SELECT FROM sending_stops WHERE resumed_at IS NULL
                AND sending_stops.project_number = mails.project_number) AS is_stopped`,
        [new Date(now()), limit, claim, new Date(now() + leaseMs)],
      );
      return rows.map((row) => claimedOf(row, claim));
    },

    /** From here on the provider may have the mail. @throws ClaimLost */
    async handOver(mail: ClaimedMail): Promise<void> {
      const rows = await database.named(
        'hand-over-mail',
        `UPDATE mails SET handed_over_at = $4 WHERE ${isMine} AND lease_until > $4 RETURNING true`,
        [...keyOf(mail), new Date(now())],
      );
      if (rows.length === 0) throw new ClaimLost();
    },

    /** A one-time link is not kept where its mail has gone out. */
    async finish(
      mail: ClaimedMail,
      status: 'sent' | 'captured' | 'failed',
      error?: string,
    ): Promise<void> {
      await database.named(
        'finish-mail',
        `UPDATE mails SET status = $4, error = $5, claim = NULL, lease_until = NULL,
                html = CASE WHEN is_secret AND $4 <> 'captured' THEN '' ELSE html END,
                plain_text = CASE WHEN is_secret AND $4 <> 'captured' THEN '' ELSE plain_text END
          WHERE ${isMine}`,
        [...keyOf(mail), status, error ?? null],
      );
    },

    async retryLater(mail: ClaimedMail, error: string): Promise<void> {
      await database.query(
        `UPDATE mails SET status = 'queued', error = $4, next_attempt_at = $5, claim = NULL, lease_until = NULL
          WHERE ${isMine}`,
        [...keyOf(mail), error, new Date(now() + retryDelayMs(mail.attempts, random()))],
      );
    },

    /** Decides about mails whose worker is gone. Returns how many. */
    async expire(): Promise<number> {
      const rows = await database.query(
        `WITH expired AS (
           SELECT project_number, id FROM mails WHERE status = 'sending' AND lease_until <= $1
            LIMIT ${expiryBatch} FOR UPDATE SKIP LOCKED)
         UPDATE mails SET claim = NULL, lease_until = NULL,
                status = CASE WHEN attempts < $3 AND (handed_over_at IS NULL OR $2) THEN 'queued' ELSE 'failed' END,
                error = CASE WHEN handed_over_at IS NULL OR $2 THEN 'The delivery was interrupted.'
                  ELSE 'The delivery was interrupted after the mail was handed over. It may have arrived, so it is not sent again.' END
           FROM expired WHERE mails.project_number = expired.project_number AND mails.id = expired.id
         RETURNING true`,
        [new Date(now()), isRepeatable, maxAttempts],
      );
      return rows.length;
    },
  };
};
