import { domainToUnicode } from 'node:url';
import { type EventPayloads, isUuid } from '@backlot/contract';
import { createQueries, type Database, deleteExpired, type Outbox } from '@backlot/database';
import { type Page, type PageQuery, type Position, readPage } from '@backlot/http';
import type { Bound, WindowCounts } from '@backlot/service';
import { sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { DB as Tables } from '../tables.ts';
import { createBacklog } from './backlog.ts';
import {
  type Event,
  type MailRow,
  type MailValues,
  mailColumns,
  type NewMail,
  type NewPlatformMail,
  type Refusal,
} from './mail.ts';

const keepDays = 30;
const projectTables = [
  'mails',
  'suppressions',
  'suppressed_addresses',
  'reports',
  'sending_stops',
  'held_projects',
  'visitor_days',
] as const;
const batchSize = 1000;
const dayMs = 24 * 60 * 60 * 1000;
/** Mails in a project's list that were never to be sent, because who asked for them may not. */
export const refusedPerDay = 100;

/** An account's address, and as people may have written it: mails keep the spelling that they were sent with. */
const spellings = (address: string): string[] => {
  const domainAt = address.lastIndexOf('@') + 1;
  const inLetters = address.slice(0, domainAt) + domainToUnicode(address.slice(domainAt));
  return [address.toLowerCase(), inLetters.toLowerCase()];
};

/** Undoes a mail that would pass a bound. */
class NoPlace extends Error {
  override readonly name = 'NoPlace';
}

export interface MailsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  /** Epoch milliseconds. */
  now: () => number;
  maxWaitingPerProject: number;
  windowCounts: WindowCounts;
}

export type Mails = ReturnType<typeof createMails>;

export const createMails = ({
  database,
  outbox,
  now,
  maxWaitingPerProject,
  windowCounts,
}: MailsDeps) => {
  const queries = createQueries<Tables>(database);
  const backlog = createBacklog(database, now, maxWaitingPerProject);
  const newRow = () => ({ id: uuidv7(), createdAt: new Date(now()) });
  const queuedEvent = (mail: NewMail, mailId: string): Event => ({
    topic: 'mail.queued',
    payload: { projectNumber: mail.projectNumber, mailId },
  });
  const eventValues = (events: readonly Event[]) => [
    events.map(({ topic }) => topic),
    events.map(({ payload }) => JSON.stringify(payload)),
  ];

  /** In short statements, however much it is. */
  const deleteOfProject = async (table: keyof Tables, projectNumber: number) => {
    let deleted: number;
    do {
      const { rowCount } = await database.execute(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE project_number = $1 LIMIT ${batchSize}))`,
        [projectNumber],
      );
      deleted = rowCount;
    } while (deleted === batchSize);
  };

  const selectMails = (projectNumber: number) =>
    queries
      .selectFrom('mails')
      .select(mailColumns)
      .where('project_number', '=', projectNumber)
      .$narrowType<MailValues>();

  return {
    /** Stores the mail, its event and the given events in one statement: all of them, or none. */
    async accept(mail: NewMail, events: readonly Event[]): Promise<Refusal | undefined> {
      if (!(await backlog.take(mail.projectNumber))) return 'too_many_waiting';
      const { id, createdAt } = newRow();
      const [row] = await database.named<{ stored: boolean }>(
        'accept-mail',
        `WITH stop AS (SELECT FROM sending_stops WHERE project_number = $1 AND resumed_at IS NULL),
         mail AS (
           INSERT INTO mails (project_number, id, project_id, recipients, from_name, from_address,
             subject, html, next_attempt_at, created_at, cc, reply_to)
           SELECT $1, $2, $3, $4::text[], $5, $6, $7, $8, $9, $9, $10::text[], $11
            WHERE NOT EXISTS (SELECT FROM stop)
           RETURNING id),
         events AS (
           INSERT INTO outbox (topic, payload)
           SELECT topic, payload::jsonb FROM mail, unnest($12::text[], $13::text[]) AS event (topic, payload))
         SELECT EXISTS (SELECT FROM mail) AS stored`,
        [
          ...[mail.projectNumber, id, mail.projectId, mail.recipients],
          ...[mail.from.name, mail.from.address, mail.subject, mail.html, createdAt],
          ...[mail.cc ?? [], mail.replyTo ?? null],
          ...eventValues([queuedEvent(mail, id), ...events]),
        ],
      );
      if (!row?.stored) return 'stopped';
      outbox.wake();
      return undefined;
    },

    /**
     * Shows a mail to its owner that is not sent, without its content; so many a day. Refuses as `accept`
     * does, so that nobody can tell the one from the other.
     */
    async keepRefused(mail: NewMail, reason: string): Promise<Refusal | undefined> {
      if (!(await backlog.take(mail.projectNumber))) return 'too_many_waiting';
      const stop = await queries
        .selectFrom('sending_stops')
        .select('project_number')
        .where('project_number', '=', mail.projectNumber)
        .where('resumed_at', 'is', null)
        .executeTakeFirst();
      if (stop) return 'stopped';
      const bound = { windowMs: dayMs, max: refusedPerDay };
      await database.transaction(async () => {
        const name = `refused mails of project ${mail.projectNumber}`;
        if (!(await windowCounts.take([{ name, ...bound }]))) return;
        const { id, createdAt } = newRow();
        await queries
          .insertInto('mails')
          .values({
            project_number: mail.projectNumber,
            id,
            project_id: mail.projectId,
            recipients: [...mail.recipients],
            cc: [...(mail.cc ?? [])],
            reply_to: mail.replyTo ?? null,
            from_name: mail.from.name,
            from_address: mail.from.address,
            subject: mail.subject,
            html: '',
            status: 'failed',
            error: reason,
            next_attempt_at: createdAt,
            created_at: createdAt,
          })
          .execute();
      });
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
               subject, html, next_attempt_at, created_at, plain_text, event_id, is_secret, is_own)
             VALUES ($1, $2, $3, $4::text[], $5, $6, $7, $8, $9, $9, $10, $11, $12, true)
             ON CONFLICT ON CONSTRAINT mails_event DO NOTHING RETURNING id)
           INSERT INTO outbox (topic, payload)
           SELECT topic, payload::jsonb FROM mail, unnest($13::text[], $14::text[]) AS event (topic, payload)
           RETURNING true`,
          [
            ...[mail.projectNumber, id, mail.projectId, mail.recipients],
            ...[mail.from.name, mail.from.address, mail.subject, mail.html, createdAt],
            ...[mail.text, mail.eventId, mail.isSecret, ...eventValues([queuedEvent(mail, id)])],
          ],
        );
      try {
        // A notice for an owner belongs to the platform's project, whichever it is about.
        return await database.inProject(mail.projectNumber, () =>
          database.transaction(async () => {
            // First, because it waits for the same event in another process; without a place it is undone.
            if ((await store()).length > 0 && !(await windowCounts.take(bounds)))
              throw new NoPlace();
            outbox.wake();
            return true;
          }),
        );
      } catch (error) {
        if (error instanceof NoPlace) return false;
        throw error;
      }
    },

    /** Newest first. @throws ApiError invalid_cursor */
    page<T>(
      projectNumber: number,
      query: PageQuery,
      present: (row: MailRow) => T,
    ): Promise<Page<T>> {
      const all = selectMails(projectNumber);
      const read = (after: Position | undefined, count: number) => {
        const page = after
          ? all.where(({ eb, refTuple, tuple }) =>
              eb(refTuple('created_at', 'id'), '<', tuple(after.createdAt, after.id)),
            )
          : all;
        return page.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(count).execute();
      };
      return readPage('mails', query, read, present);
    },

    async find(projectNumber: number, id: string): Promise<MailRow | undefined> {
      if (!isUuid(id)) return undefined;
      return selectMails(projectNumber).where('id', '=', id).executeTakeFirst();
    },

    /** Deletes the mails to this address, and those whose answers go there. */
    eraseAddress: (projectNumber: number, address: string) =>
      queries
        .deleteFrom('mails')
        .where('project_number', '=', projectNumber)
        .where(
          sql<boolean>`(lower(reply_to) = ANY (${spellings(address)}) OR EXISTS (
            SELECT FROM unnest(recipients) AS recipient WHERE lower(recipient) = ANY (${spellings(address)})))`,
        )
        .execute(),

    /** May be repeated. */
    async eraseProject(projectNumber: number): Promise<void> {
      for (const table of projectTables) await deleteOfProject(table, projectNumber);
    },

    /** Deletes a batch of what is older than 30 days. */
    sweep() {
      const before = new Date(now() - keepDays * dayMs);
      return deleteExpired(
        database,
        ['mails', 'reports'].map((table) => ({
          ...{ table, condition: 'created_at < $1', values: [before] },
        })),
      );
    },
  };
};
