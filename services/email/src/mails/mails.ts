import { domainToUnicode } from 'node:url';
import { isUuid } from '@backlot/contract';
import { createQueries, deleteExpired } from '@backlot/database';
import { type Page, type PageQuery, type Position, readPage } from '@backlot/http';
import { sql } from 'kysely';
import type { DB as Tables } from '../tables.ts';
import { type AcceptMailsDeps, createAcceptMails } from './accept-mails.ts';
import { type MailRow, type MailValues, mailColumns } from './mail.ts';

const keepDays = 30;
const projectTables = [
  'mails',
  'suppressions',
  'suppressed_addresses',
  'reports',
  'sending_stops',
  'visitor_stops',
  'held_projects',
  'visitor_days',
  'mail_templates',
] as const;
const batchSize = 1000;
const dayMs = 24 * 60 * 60 * 1000;
/** An account's address, and as people may have written it: mails keep the spelling that they were sent with. */
const spellings = (address: string): string[] => {
  const domainAt = address.lastIndexOf('@') + 1;
  const inLetters = address.slice(0, domainAt) + domainToUnicode(address.slice(domainAt));
  return [address.toLowerCase(), inLetters.toLowerCase()];
};

const goesTo = (address: string) =>
  sql<boolean>`EXISTS (
    SELECT FROM unnest(recipients || bcc) AS recipient WHERE lower(recipient) = ANY (${spellings(address)}))`;

export interface MailQuery extends PageQuery {
  sort?: 'createdAt' | '-createdAt' | undefined;
  /** Of a recipient, as accounts spell it. */
  email?: string | undefined;
  status?: Exclude<MailValues['status'], 'sending'> | undefined;
}

export type Mails = ReturnType<typeof createMails>;

export const createMails = (deps: AcceptMailsDeps) => {
  const { database, now } = deps;
  const queries = createQueries<Tables>(database);
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
      .$castTo<MailRow>();

  return {
    ...createAcceptMails(deps),

    /** Newest first unless `sort` says otherwise. @throws ApiError invalid_cursor */
    page<T>(
      projectNumber: number,
      { sort = '-createdAt', email, status, ...query }: MailQuery,
      present: (row: MailRow) => T,
    ): Promise<Page<T>> {
      const [order, beyond] =
        sort === 'createdAt' ? (['asc', '>'] as const) : (['desc', '<'] as const);
      let all = selectMails(projectNumber);
      if (status !== undefined)
        all = all.where('status', 'in', status === 'queued' ? ['queued', 'sending'] : [status]);
      if (email !== undefined) all = all.where(goesTo(email));
      const read = (after: Position | undefined, count: number) => {
        const page = after
          ? all.where(({ eb, refTuple, tuple }) =>
              eb(refTuple('created_at', 'id'), beyond, tuple(after.createdAt, after.id)),
            )
          : all;
        return page.orderBy('created_at', order).orderBy('id', order).limit(count).execute();
      };
      return readPage(['mails', sort, status, email].join(' ').trim(), query, read, present);
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
        .where(sql<boolean>`(lower(reply_to) = ANY (${spellings(address)}) OR ${goesTo(address)})`)
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
          table,
          condition: 'created_at < $1',
          values: [before],
        })),
      );
    },
  };
};
