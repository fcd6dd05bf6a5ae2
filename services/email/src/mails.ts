import { ApiError } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { type Page, type PageQuery, pageOf, positionOf } from '@backlot/http';
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { createBacklog } from './backlog.ts';
import type { Event, MailRow, NewMail, NewOwnMail, Refusal } from './mail.ts';

const columns =
  'id, created_at, recipients, from_name, from_address, subject, html, plain_text, status, is_secret, error';
const listName = 'mails';
const keepDays = 30;
const sweepBatch = 1000;
const uuid = z.uuid();
const isUuid = (text: string) => uuid.safeParse(text).success;

export interface MailsDeps {
  database: Database;
  outbox: Outbox;
  /** Epoch milliseconds. */
  now: () => number;
  maxWaitingPerProject: number;
}

export type Mails = ReturnType<typeof createMails>;

export const createMails = ({ database, outbox, now, maxWaitingPerProject }: MailsDeps) => {
  const backlog = createBacklog(database, now, maxWaitingPerProject);
  const newRow = () => ({ id: uuidv7(), createdAt: new Date(now()) });
  const queued = (mail: NewMail, mailId: string): Event => ({
    topic: 'mail.queued',
    payload: { projectNumber: mail.projectNumber, mailId },
  });
  const eventValues = (events: readonly Event[]) => [
    events.map(({ topic }) => topic),
    events.map(({ payload }) => JSON.stringify(payload)),
  ];

  return {
    /** One statement: the mail, its event and those given are there together, or none of them. */
    async accept(mail: NewMail, events: readonly Event[]): Promise<Refusal | undefined> {
      if (!(await backlog.take(mail.projectNumber))) return 'too_many_waiting';
      const { id, createdAt } = newRow();
      const [row] = await database.named<{ stored: boolean }>(
        'accept-mail',
        `WITH stop AS (SELECT FROM sending_stops WHERE project_number = $1 AND resumed_at IS NULL),
         mail AS (
           INSERT INTO mails (project_number, id, project_id, recipients, from_name, from_address,
             subject, html, next_attempt_at, created_at)
           SELECT $1, $2, $3, $4::text[], $5, $6, $7, $8, $9, $9
            WHERE NOT EXISTS (SELECT FROM stop)
           RETURNING id),
         events AS (
           INSERT INTO outbox (topic, payload)
           SELECT topic, payload::jsonb FROM mail, unnest($10::text[], $11::text[]) AS event (topic, payload))
         SELECT EXISTS (SELECT FROM mail) AS stored`,
        [
          ...[mail.projectNumber, id, mail.projectId, mail.recipients],
          ...[mail.from.name, mail.from.address, mail.subject, mail.html, createdAt],
          ...eventValues([queued(mail, id), ...events]),
        ],
      );
      if (!row?.stored) return 'stopped';
      outbox.wake();
      return undefined;
    },

    /** Stores a mail of the platform itself, unless its event made one already. */
    async acceptOwn(mail: NewOwnMail): Promise<void> {
      const { id, createdAt } = newRow();
      await database.query(
        `WITH mail AS (
           INSERT INTO mails (project_number, id, project_id, recipients, from_name, from_address,
             subject, html, next_attempt_at, created_at, plain_text, event_id, is_secret, is_own)
           VALUES ($1, $2, $3, $4::text[], $5, $6, $7, $8, $9, $9, $10, $11, $12, true)
           ON CONFLICT ON CONSTRAINT mails_event DO NOTHING RETURNING id)
         INSERT INTO outbox (topic, payload)
         SELECT topic, payload::jsonb FROM mail, unnest($13::text[], $14::text[]) AS event (topic, payload)`,
        [
          ...[mail.projectNumber, id, mail.projectId, mail.recipients],
          ...[mail.from.name, mail.from.address, mail.subject, mail.html, createdAt],
          ...[mail.text, mail.eventId, mail.isSecret, ...eventValues([queued(mail, id)])],
        ],
      );
      outbox.wake();
    },

    /** Newest first. @throws ApiError invalid_cursor */
    async page<T>(
      projectNumber: number,
      query: PageQuery,
      present: (row: MailRow) => T,
    ): Promise<Page<T>> {
      const after = positionOf(listName, query.cursor);
      if (after && !isUuid(after.id))
        throw new ApiError('invalid_cursor', '"cursor": not one of this list.');
      const rows = await database.query<MailRow>(
        `SELECT ${columns} FROM mails
          WHERE project_number = $1 AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3::uuid))
          ORDER BY created_at DESC, id DESC LIMIT $4`,
        [projectNumber, after?.createdAt, after?.id, query.limit + 1],
      );
      return pageOf(listName, query, rows, present);
    },

    async find(projectNumber: number, id: string): Promise<MailRow | undefined> {
      if (!isUuid(id)) return undefined;
      const [row] = await database.query<MailRow>(
        `SELECT ${columns} FROM mails WHERE project_number = $1 AND id = $2`,
        [projectNumber, id],
      );
      return row;
    },

    /** What was sent to this address goes, and that it is suppressed. */
    eraseAddress: (projectNumber: number, address: string): Promise<void> =>
      database.transaction(async () => {
        await database.query(
          `DELETE FROM mails WHERE project_number = $1
             AND EXISTS (SELECT FROM unnest(recipients) AS recipient WHERE lower(recipient) = lower($2))`,
          [projectNumber, address],
        );
        await database.query(
          'DELETE FROM suppressions WHERE project_number = $1 AND address = lower($2)',
          [projectNumber, address],
        );
      }),

    eraseProject: (projectNumber: number): Promise<void> =>
      database.transaction(async () => {
        for (const table of ['mails', 'suppressions', 'reports', 'sending_stops', 'held_projects'])
          await database.query(`DELETE FROM ${table} WHERE project_number = $1`, [projectNumber]);
      }),

    /** Deletes what is older than 30 days, in batches. */
    async sweep(): Promise<void> {
      const before = new Date(now() - keepDays * 24 * 60 * 60 * 1000);
      for (const table of ['mails', 'reports']) {
        let deleted: unknown[];
        do {
          deleted = await database.query(
            `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
               SELECT ctid FROM ${table} WHERE created_at < $1 LIMIT ${sweepBatch})) RETURNING true`,
            [before],
          );
        } while (deleted.length === sweepBatch);
      }
    },
  };
};
