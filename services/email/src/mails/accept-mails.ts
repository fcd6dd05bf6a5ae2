import type { EventPayloads } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { type Bound, currentWindow, type NoteFindings, type WindowCounts } from '@backlot/service';
import { uuidv7 } from 'uuidv7';
import { createBacklog } from './backlog.ts';
import type { Event, NewMail, NewPlatformMail, Refusal } from './mail.ts';
import { findPhishingSigns } from './phishing-signs.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Mails in a project's list that were never to be sent, because who asked for them may not. */
export const refusedPerDay = 100;

/** A refused mail is counted as one, and any other as none: all take the same work. */
const acceptMails = `WITH stop AS (
    SELECT 'stopped' AS reason FROM sending_stops WHERE project_number = $1 AND resumed_at IS NULL
     UNION ALL
    SELECT 'stopped' FROM visitor_stops
     WHERE $18 = 'visitors' AND project_number = $1 AND resumed_at IS NULL
     UNION ALL
    SELECT 'worded' FROM mail_templates WHERE $17 AND project_number = $1 AND send_to IS NOT NULL),
  asked AS (
    SELECT *, row_number() OVER (PARTITION BY error IS NULL) AS place
      FROM jsonb_to_recordset($3::jsonb) AS mail (id uuid, recipients text[], cc text[], bcc text[], error text)
     WHERE NOT EXISTS (SELECT FROM stop)),
  refused AS (
    INSERT INTO window_counts AS kept (name_hash, ends_at, count)
    SELECT $12::bytea, $13::timestamptz, count(error) FROM asked HAVING count(*) > 0
    ON CONFLICT (name_hash, ends_at) DO UPDATE SET count = kept.count + excluded.count
    RETURNING count - (SELECT count(error) FROM asked) AS before),
  mail AS (
    INSERT INTO mails (project_number, id, project_id, recipients, from_name, from_address, subject, html,
      next_attempt_at, created_at, cc, bcc, reply_to, status, error, files, plain_text, sender, asked_from)
    SELECT $1, id, $2, recipients, $4, $5, $6, CASE WHEN error IS NULL THEN $7 ELSE '' END, $8, $8, cc, bcc, $9,
           CASE WHEN error IS NULL THEN 'queued' ELSE 'failed' END, error,
           CASE WHEN error IS NULL THEN $15::jsonb END,
           CASE WHEN error IS NULL THEN $16 END, $18, $19
      FROM asked CROSS JOIN refused WHERE error IS NULL OR place <= $14::int - before),
  events AS (
    INSERT INTO outbox (topic, payload, origin)
    SELECT topic, payload::jsonb, $20::jsonb FROM unnest($10::text[], $11::text[]) AS event (topic, payload)
     WHERE NOT EXISTS (SELECT FROM stop))
  SELECT (SELECT reason FROM stop LIMIT 1) AS refusal`;

/** Undoes a mail that would pass a bound. */
class NoPlace extends Error {
  override readonly name = 'NoPlace';
}

export interface AcceptMailsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  /** Epoch milliseconds. */
  now: () => number;
  maxWaitingPerProject: number;
  windowCounts: WindowCounts;
  findings: Pick<NoteFindings, 'note'>;
}

/** What stores new mails, so that they go out. */
export const createAcceptMails = ({
  database,
  outbox,
  now,
  maxWaitingPerProject,
  windowCounts,
  findings,
}: AcceptMailsDeps) => {
  const backlog = createBacklog(database, now, maxWaitingPerProject);
  const newRow = () => ({ id: uuidv7(), createdAt: new Date(now()) });
  const noteSigns = (mail: NewMail, id: string) =>
    findings.note({
      projectNumber: mail.projectNumber,
      kind: 'mailWords',
      signs: findPhishingSigns(mail),
      examples: [id],
    });
  const queuedEvent = (mail: NewMail, mailId: string): Event => ({
    topic: 'mail.queued',
    payload: { projectNumber: mail.projectNumber, mailId },
  });
  const eventValues = (events: readonly Event[]) => [
    events.map(({ topic }) => topic),
    events.map(({ payload }) => JSON.stringify(payload)),
  ];

  return {
    /**
     * Stores the mails, an event for those that go out and the given events in one statement: all of them,
     * or none. They differ in their addresses and refusals alone. Mails with a refusal are stored so many a
     * day; what they take does not tell them from others.
     */
    async accept(
      mails: readonly [NewMail, ...NewMail[]],
      events: readonly Event[],
    ): Promise<Refusal | undefined> {
      const [mail] = mails;
      if (!(await backlog.take(mail.projectNumber, mails.length))) return 'too_many_waiting';
      const createdAt = new Date(now());
      const rows = mails.map(({ recipients, cc = [], bcc = [], refusal = null }) => ({
        id: uuidv7(),
        recipients,
        cc,
        bcc,
        error: refusal,
      }));
      const queued = rows.find(({ error }) => error === null);
      const name = `refused mails of project ${mail.projectNumber}`;
      const { hash, endsAt } = currentWindow({ name, windowMs: dayMs }, now());
      const [row] = await database.named<{ refusal: Refusal | null }>('accept-mails', acceptMails, [
        mail.projectNumber,
        mail.projectId,
        JSON.stringify(rows),
        mail.from.name,
        mail.from.address,
        mail.subject,
        mail.html,
        createdAt,
        mail.replyTo ?? null,
        ...eventValues([...(queued ? [queuedEvent(mail, queued.id)] : []), ...events]),
        hash,
        endsAt,
        refusedPerDay,
        mail.files?.length ? JSON.stringify(mail.files) : null,
        mail.text ?? null,
        mail.yieldsToTemplates ?? false,
        mail.sender ?? 'project',
        mail.askedFrom ?? null,
        outbox.origin(),
      ]);
      if (row?.refusal) return row.refusal;
      if (queued) database.afterCommit(() => noteSigns(mail, queued.id));
      outbox.wake();
      return undefined;
    },

    /**
     * Stores a platform mail, unless its event has made one already. False, and nothing is counted or
     * stored, where it would pass a bound.
     */
    async acceptPlatformMail(
      mail: NewPlatformMail,
      bounds: readonly Bound[] = [],
    ): Promise<boolean> {
      const { id, createdAt } = newRow();
      const store = () =>
        database.query(
          `WITH mail AS (
             INSERT INTO mails (project_number, id, project_id, recipients, from_name, from_address,
               subject, html, next_attempt_at, created_at, plain_text, event_id, is_secret, is_own, sender, asked_from)
             VALUES ($1, $2, $3, $4::text[], $5, $6, $7, $8, $9, $9, $10, $11, $12, true, 'asked', $15)
             ON CONFLICT ON CONSTRAINT mails_event DO NOTHING RETURNING id)
           INSERT INTO outbox (topic, payload, origin)
           SELECT topic, payload::jsonb, $16::jsonb FROM mail, unnest($13::text[], $14::text[]) AS event (topic, payload)
           RETURNING true`,
          [
            mail.projectNumber,
            id,
            mail.projectId,
            mail.recipients,
            mail.from.name,
            mail.from.address,
            mail.subject,
            mail.html,
            createdAt,
            mail.text ?? null,
            mail.eventId,
            mail.isSecret,
            ...eventValues([queuedEvent(mail, id)]),
            mail.askedFrom ?? null,
            outbox.origin(),
          ],
        );
      try {
        // A notice for an owner belongs to the platform's project, whichever it is about.
        return await database.inProject(mail.projectNumber, () =>
          database.transaction(async () => {
            // First, because it waits for the same event in another process; without a place it is undone.
            if ((await store()).length > 0 && !(await windowCounts.take(bounds)))
              throw new NoPlace();
            if (mail.isWordedByOwner) database.afterCommit(() => noteSigns(mail, id));
            outbox.wake();
            return true;
          }),
        );
      } catch (error) {
        if (error instanceof NoPlace) return false;
        throw error;
      }
    },
  };
};
