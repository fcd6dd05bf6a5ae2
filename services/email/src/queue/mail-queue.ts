import type { FileDescription } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { uuidv7 } from 'uuidv7';
import type { Suppressions } from '../bounces/suppressions.ts';
import type { OutgoingMail } from '../mailer/mailer.ts';
import { type MailRow, toOutgoingMail } from '../mails/mail.ts';

/** A mail that only this worker may hand over, until its lease ends. */
export interface ClaimedMail extends OutgoingMail {
  claim: string;
  /** Including this one. */
  attempts: number;
  /** Recipients that get no mail of this project. */
  suppressed: readonly string[];
  /** Whose content is to be added before it is handed over. */
  files: readonly FileDescription[];
  /** The project may not send at present, nor does the platform for its users. */
  isStopped: boolean;
}

/** Short, so that a dead worker delays no mail for long; a live one renews its leases. */
export const leaseMs = 30_000;

/** Queues that one statement reads, and statements of one call. */
const queuesPerScan = 100;
const maxScans = 100;

interface ClaimedRow extends MailRow {
  project_number: number;
  project_id: string;
  attempts: number;
  is_stopped: boolean;
}

/** One row for each claimed mail, or one without a mail; with the last queue and whether all were read. */
type ClaimRow = { last_project: number; last_is_own: boolean; is_over: boolean } & (
  | ClaimedRow
  | { id: null }
);

const toClaimedMail = (row: ClaimedRow, claim: string): Omit<ClaimedMail, 'suppressed'> => ({
  ...toOutgoingMail(row, { id: row.project_id, number: row.project_number }),
  claim,
  attempts: row.attempts,
  files: row.files ?? [],
  isStopped: row.is_stopped,
});

/**
 * Round-robin: reads the queues that follow the one served last, one index look-up for each. Those with
 * due mails share the batch evenly; what does not fit waits for the next batch.
 * @param isInLane SQL that an index answers
 */
const claimDueMails = (
  isInLane: string,
) => `WITH RECURSIVE scan (project_number, is_own, has_wrapped, step) AS (
    SELECT $5::bigint, $6::boolean, false, 0
     UNION ALL
    SELECT next.project_number, next.is_own, next.has_wrapped, step + 1
      FROM scan CROSS JOIN LATERAL (
        (SELECT project_number, is_own, scan.has_wrapped AS has_wrapped FROM mails
          WHERE status = 'queued' AND ${isInLane} AND (project_number, is_own) > (scan.project_number, scan.is_own)
          ORDER BY project_number, is_own LIMIT 1)
        UNION ALL
        (SELECT project_number, is_own, true FROM mails WHERE status = 'queued' AND ${isInLane} AND NOT scan.has_wrapped
          ORDER BY project_number, is_own LIMIT 1)
        ORDER BY has_wrapped LIMIT 1) AS next
     WHERE step < ${queuesPerScan}
       AND (NOT next.has_wrapped OR (next.project_number, next.is_own) <= ($5, $6))),
  served AS (
    SELECT scan.* FROM scan CROSS JOIN LATERAL (
        SELECT FROM mails WHERE status = 'queued' AND ${isInLane} AND mails.project_number = scan.project_number
           AND mails.is_own = scan.is_own AND next_attempt_at <= $1
           AND NOT EXISTS (SELECT FROM held_projects AS held WHERE held.project_number = scan.project_number)
         ORDER BY next_attempt_at LIMIT 1) AS due
     WHERE step > 0 LIMIT $2),
  taken AS (
    SELECT mail.* FROM served CROSS JOIN LATERAL (
        SELECT project_number, id FROM mails WHERE status = 'queued' AND ${isInLane} AND mails.project_number = served.project_number
           AND mails.is_own = served.is_own AND next_attempt_at <= $1
         ORDER BY next_attempt_at LIMIT (SELECT ceil($2::numeric / count(*)) FROM served)
           FOR UPDATE SKIP LOCKED) AS mail
     LIMIT $2),
  claimed AS (
    UPDATE mails SET status = 'sending', attempts = attempts + 1, claim = $3, lease_until = $4,
           handed_over_at = NULL
      FROM taken WHERE mails.project_number = taken.project_number AND mails.id = taken.id
    RETURNING mails.project_number, mails.id, project_id, recipients, cc, bcc, reply_to, from_name, from_address,
      subject, html, plain_text, created_at, status, is_secret, error, files, attempts,
        (NOT mails.is_own AND (EXISTS (SELECT FROM sending_stops WHERE resumed_at IS NULL
           AND sending_stops.project_number = mails.project_number)
         OR sender = 'visitors' AND EXISTS (SELECT FROM visitor_stops WHERE resumed_at IS NULL
           AND visitor_stops.project_number = mails.project_number))) AS is_stopped)
  SELECT last.project_number AS last_project, last.is_own AS last_is_own, last.is_over, claimed.*
    FROM (
      (SELECT *, false AS is_over FROM served ORDER BY step DESC LIMIT 1)
      UNION ALL
      (SELECT *, step < ${queuesPerScan} FROM scan WHERE NOT EXISTS (SELECT FROM served) ORDER BY step DESC LIMIT 1)
    ) AS last LEFT JOIN claimed ON true`;

/**
 * Decides which mails go next. Each project has a queue for its mails and one for the platform's own, so
 * that neither 10,000 mails of one project nor 10,000 sign-ups delay anybody else.
 */
const createMailQueue = (
  database: Database,
  suppressions: Suppressions,
  now: () => number,
  [name, isInLane]: readonly [statement: string, isInLane: string],
) => {
  const text = claimDueMails(isInLane);
  // No project has this number: the first scan begins at the first queue.
  let last = { project: 0, isOwn: false };

  const claimDue = async (limit: number): Promise<ClaimedMail[]> => {
    for (let scans = 0; scans < maxScans; scans++) {
      const claim = uuidv7();
      const rows = await database.named<ClaimRow>(name, text, [
        new Date(now()),
        limit,
        claim,
        new Date(now() + leaseMs),
        last.project,
        last.isOwn,
      ]);
      const [first] = rows;
      if (!first) throw new Error('A scan of the mail queues has returned no row.');
      last = { project: first.last_project, isOwn: first.last_is_own };
      const mails = rows.flatMap((row) => (row.id === null ? [] : [toClaimedMail(row, claim)]));
      // Queues are due but gave no mail: another worker has locked these, and perhaps not the next ones.
      if (mails.length > 0 || first.is_over) {
        const suppressed = await suppressions.find(
          mails.map(({ projectNumber, to, cc, bcc }) => ({
            projectNumber,
            to: [...to, ...cc, ...bcc],
          })),
        );
        return mails.map((mail, index) => ({ ...mail, suppressed: suppressed[index] ?? [] }));
      }
    }
    return [];
  };

  return {
    /** Up to `limit` mails that are due and not on hold; no two workers get the same. */
    claim: (limit: number): Promise<ClaimedMail[]> =>
      database.acrossProjects(() => claimDue(limit)),
  };
};

export type MailQueue = ReturnType<typeof createMailQueue>;

/** Each mail is in one of them. */
export const createMailQueues = (
  database: Database,
  suppressions: Suppressions,
  now: () => number,
) => ({
  withoutFiles: createMailQueue(database, suppressions, now, [
    'claim-mails-without-files',
    'files IS NULL',
  ]),
  withFiles: createMailQueue(database, suppressions, now, [
    'claim-mails-with-files',
    'files IS NOT NULL',
  ]),
});

export type MailQueues = ReturnType<typeof createMailQueues>;
