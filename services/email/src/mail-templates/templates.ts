import { ApiError, emailRoutes, type MailFields, type MailTemplate } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { DB as Tables, MailTemplate as TemplateTable } from '../tables.ts';
import type { Words } from './render.ts';

export interface StoredTemplate extends Words {
  name: string;
  /** Null where it words account mails. */
  sendTo: 'caller' | 'owner' | 'anyone' | null;
  callers: readonly string[];
  fields: MailFields;
  /** Of the app, to which it leads. */
  origins: readonly string[];
  updatedAt: Date;
}

const columns = [
  'name',
  'subject',
  'html',
  'plain_text',
  'send_to',
  'callers',
  'fields',
  'origins',
  'updated_at',
] as const;
type Row = Pick<Selectable<TemplateTable>, (typeof columns)[number]>;

const fromRow = (row: Row): StoredTemplate => ({
  name: row.name,
  subject: row.subject,
  html: row.html,
  text: row.plain_text ?? undefined,
  sendTo: row.send_to as StoredTemplate['sendTo'],
  callers: row.callers,
  fields: row.fields as MailFields,
  origins: row.origins,
  updatedAt: row.updated_at,
});

export const presentTemplate = (template: StoredTemplate): MailTemplate => ({
  ...summarize(template),
  html: template.html,
  ...(template.text !== undefined && { text: template.text }),
});

export const summarize = (template: StoredTemplate) => ({
  name: template.name,
  subject: template.subject,
  ...(template.sendTo !== null && { to: template.sendTo, callers: [...template.callers] }),
  fields: template.fields,
  updatedAt: template.updatedAt.toISOString(),
});

export type Templates = ReturnType<typeof createTemplates>;

/** The mails that owners have worded. */
export const createTemplates = (database: Database) => {
  const queries = createQueries<Tables>(database);
  const { maxMailTemplates } = emailRoutes;
  const notFound = () => new ApiError('not_found', 'There is no such mail template.');

  /** Calls of one project go one after the other until the transaction ends, so that the limit is exact. */
  const checkLimit = async (projectNumber: number, name: string) => {
    await database.query(`SELECT pg_advisory_xact_lock(hashtextextended('mail templates', $1))`, [
      projectNumber,
    ]);
    const { others } = await queries
      .selectFrom('mail_templates')
      .select(({ fn }) => fn.countAll<number>().as('others'))
      .where('project_number', '=', projectNumber)
      .where('name', '<>', name)
      .executeTakeFirstOrThrow();
    if (others < maxMailTemplates) return;
    const most = `A project may have at most ${maxMailTemplates} mail templates.`;
    throw new ApiError('template_limit', most, { hint: 'Delete one that is no longer used.' });
  };

  const find = async (projectNumber: number, name: string): Promise<StoredTemplate | undefined> => {
    const row = await queries
      .selectFrom('mail_templates')
      .select(columns)
      .where('project_number', '=', projectNumber)
      .where('name', '=', name)
      .executeTakeFirst();
    return row && fromRow(row);
  };

  return {
    find,

    /** @throws ApiError not_found */
    async get(projectNumber: number, name: string): Promise<StoredTemplate> {
      const template = await find(projectNumber, name);
      if (!template) throw notFound();
      return template;
    },

    /** @throws ApiError template_limit */
    set: (projectNumber: number, template: StoredTemplate): Promise<void> =>
      database.transaction(async () => {
        await checkLimit(projectNumber, template.name);
        const change = {
          subject: template.subject,
          html: template.html,
          plain_text: template.text ?? null,
          send_to: template.sendTo,
          callers: [...template.callers],
          fields: JSON.stringify(template.fields),
          origins: [...template.origins],
          updated_at: template.updatedAt,
        } satisfies Partial<Insertable<TemplateTable>>;
        await queries
          .insertInto('mail_templates')
          .values({ project_number: projectNumber, name: template.name, ...change })
          .onConflict((conflict) =>
            conflict.columns(['project_number', 'name']).doUpdateSet(change),
          )
          .execute();
      }),

    /** By name, with their words; all of them. */
    async listWhole(projectNumber: number): Promise<StoredTemplate[]> {
      const rows = await queries
        .selectFrom('mail_templates')
        .select(columns)
        .where('project_number', '=', projectNumber)
        .orderBy('name')
        .execute();
      return rows.map(fromRow);
    },

    /** Those that are there. */
    async deleteAll(projectNumber: number, names: readonly string[]): Promise<void> {
      await queries
        .deleteFrom('mail_templates')
        .where('project_number', '=', projectNumber)
        .where('name', 'in', names)
        .execute();
    },

    /** By name, without their words; all of them. */
    async list(projectNumber: number): Promise<StoredTemplate[]> {
      const rows = await queries
        .selectFrom('mail_templates')
        .select(['name', 'subject', 'send_to', 'callers', 'fields', 'origins', 'updated_at'])
        .select([sql<string>`''`.as('html'), sql<null>`NULL`.as('plain_text')])
        .where('project_number', '=', projectNumber)
        .orderBy('name')
        .execute();
      return rows.map(fromRow);
    },

    /** @throws ApiError not_found */
    async delete(projectNumber: number, name: string): Promise<void> {
      const { numDeletedRows } = await queries
        .deleteFrom('mail_templates')
        .where('project_number', '=', projectNumber)
        .where('name', '=', name)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw notFound();
    },
  };
};
