import type { Database } from '@backlot/database';
import type { ClaimedMail } from './turns.ts';

/** The lease ended and another worker, or nobody, has the mail. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

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

export interface DeliveriesDeps {
  database: Database;
  /** Epoch milliseconds. */
  now: () => number;
  random: () => number;
  /** The mailer may be handed a mail again whose handing over was cut off. */
  isRepeatable: boolean;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

/** What became of mails that were claimed. */
export const createDeliveries = ({ database, now, random, isRepeatable }: DeliveriesDeps) => {
  const keyOf = ({ projectNumber, id, claim }: ClaimedMail) => [projectNumber, id, claim];
  const isMine = "project_number = $1 AND id = $2 AND claim = $3 AND status = 'sending'";

  return {
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
