import type { Database } from '@backlot/database';
import { type ClaimedMail, leaseMs } from './mail-queue.ts';

/** The lease has ended: the mail is no longer this worker's. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

const renewedAfterMs = 10_000;
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
  /** A mail may be handed to the mailer again if the first hand-over was cut off. */
  isRepeatable: boolean;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

/** The state of claimed mails. */
export const createDeliveries = ({ database, now, random, isRepeatable }: DeliveriesDeps) => {
  const claimKey = ({ projectNumber, id, claim }: ClaimedMail) => [projectNumber, id, claim];
  const isClaimed = "project_number = $1 AND id = $2 AND claim = $3 AND status = 'sending'";
  // Also one that was given up while this worker could not reach the database: its result is right.
  const wasClaimed =
    "project_number = $1 AND id = $2 AND claim = $3 AND status IN ('sending', 'failed')";

  /** A worker serves all projects; each mail's state is written in its own. */
  const write = (mail: ClaimedMail, name: string, text: string, values: readonly unknown[]) =>
    database.inProject(mail.projectNumber, () =>
      database.named(name, text, [...claimKey(mail), ...values]),
    );

  return {
    /** From here on the provider may have the mail. @throws ClaimLost */
    async handOver(mail: ClaimedMail): Promise<void> {
      const rows = await write(
        mail,
        'hand-over-mail',
        `UPDATE mails SET handed_over_at = $4 WHERE ${isClaimed} AND lease_until > $4 RETURNING true`,
        [new Date(now())],
      );
      if (rows.length === 0) throw new ClaimLost();
    },

    /** Extends leases that are older than 10 s, of mails that are still this worker's. */
    async renew(mails: readonly ClaimedMail[]): Promise<void> {
      if (mails.length === 0) return;
      await database.named(
        'renew-mails',
        `UPDATE mails SET lease_until = $4
           FROM unnest($1::bigint[], $2::uuid[], $3::uuid[]) AS mine (project_number, id, claim)
          WHERE mails.project_number = mine.project_number AND mails.id = mine.id
            AND mails.claim = mine.claim AND status = 'sending' AND lease_until <= $5`,
        [
          mails.map(({ projectNumber }) => projectNumber),
          mails.map(({ id }) => id),
          mails.map(({ claim }) => claim),
          new Date(now() + leaseMs),
          new Date(now() + leaseMs - renewedAfterMs),
        ],
      );
    },

    /** One-time links are deleted once their mail has been sent. */
    async finish(
      mail: ClaimedMail,
      status: 'sent' | 'captured' | 'failed',
      error?: string,
    ): Promise<void> {
      await write(
        mail,
        'finish-mail',
        `UPDATE mails SET status = $4, error = $5, claim = NULL, lease_until = NULL,
                html = CASE WHEN is_secret AND $4 <> 'captured' THEN '' ELSE html END,
                plain_text = CASE WHEN is_secret AND $4 <> 'captured' THEN '' ELSE plain_text END
          WHERE ${wasClaimed}`,
        [status, error ?? null],
      );
    },

    async retryLater(mail: ClaimedMail, error: string): Promise<void> {
      await write(
        mail,
        'retry-mail-later',
        `UPDATE mails SET status = 'queued', error = $4, next_attempt_at = $5, claim = NULL, lease_until = NULL
          WHERE ${wasClaimed}`,
        [error, new Date(now() + retryDelayMs(mail.attempts, random()))],
      );
    },

    /** Queues or fails mails whose lease has ended. They keep the claim, in case the worker comes back. */
    async expire(): Promise<void> {
      await database.query(
        `WITH expired AS (
           SELECT project_number, id FROM mails WHERE status = 'sending' AND lease_until <= $1
            LIMIT ${expiryBatch} FOR UPDATE SKIP LOCKED)
         UPDATE mails SET lease_until = NULL,
                status = CASE WHEN attempts < $3 AND (handed_over_at IS NULL OR $2) THEN 'queued' ELSE 'failed' END,
                error = CASE WHEN handed_over_at IS NULL OR $2 THEN 'The delivery was interrupted.'
                  ELSE 'The delivery was interrupted after the mail was handed over. It may have arrived, so it is not sent again.' END
           FROM expired WHERE mails.project_number = expired.project_number AND mails.id = expired.id`,
        [new Date(now()), isRepeatable, maxAttempts],
      );
    },
  };
};
