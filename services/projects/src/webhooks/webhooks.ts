import { ApiError, type FilterDirectory, type Webhook, webhookRoutes } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { refusal } from '@backlot/outgoing';
import type { Sealer } from '@backlot/sealing';
import type { Selectable } from 'kysely';
import type { Projects } from '../projects/projects.ts';
import type { ProjectScope } from '../projects/scope.ts';
import type { DB as Tables, Webhook as WebhookTable } from '../tables.ts';
import { newSecret, sealSecret } from './secrets.ts';
import type { TellWants } from './wants.ts';

const { maxWebhooks } = webhookRoutes;

/** So long both secrets sign, so that the other side can be changed meanwhile. */
const overlapMs = 24 * 60 * 60 * 1000;

export interface WantedWebhook {
  url: string;
  on: readonly string[];
  where?: Record<string, unknown> | undefined;
  /** Where it begins switched off. */
  offReason?: string;
}

export interface WebhooksDeps {
  database: Database;
  tellWants: TellWants;
  projects: Projects;
  sealer: Sealer;
  filters: FilterDirectory;
  /** Where developers work: their own machine is told, over http too. */
  allowsLoopback: boolean;
  now: () => number;
}

export type WebhookRow = Selectable<WebhookTable>;
export type Webhooks = ReturnType<typeof createWebhooks>;

export const present = (row: WebhookRow): Webhook => ({
  name: row.name,
  url: row.url,
  on: row.wanted,
  where: row.where_filter as Webhook['where'],
  state: row.off_reason === null ? 'on' : 'off',
  offReason: row.off_reason,
  waiting: row.waiting,
  parkedAt: row.parked_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

const webhookNotFound = () => new ApiError('not_found', 'The project has no such webhook.');

/** Where a project's owner has what happens in its app sent. */
export const createWebhooks = (deps: WebhooksDeps) => {
  const { database, tellWants, projects, sealer, filters, allowsLoopback, now } = deps;
  const queries = createQueries<Tables>(database);
  const inProject = (projectNumber: number) =>
    queries.selectFrom('webhooks').selectAll().where('project_number', '=', projectNumber);

  const checkAddress = (url: string) => {
    const refused = refusal(new URL(url), allowsLoopback);
    if (refused !== undefined) throw new ApiError('invalid_body', `"url": ${refused}.`);
  };

  const insert = async (projectNumber: number, name: string, wanted: WantedWebhook) => {
    const others = await inProject(projectNumber).execute();
    if (others.length >= maxWebhooks)
      throw new ApiError('webhook_limit', `A project has at most ${maxWebhooks} webhooks.`);
    const secret = newSecret();
    const at = new Date(now());
    const row = await queries
      .insertInto('webhooks')
      .values({
        project_number: projectNumber,
        name,
        url: wanted.url,
        wanted: [...wanted.on],
        where_filter: wanted.where === undefined ? null : JSON.stringify(wanted.where),
        sealed_secret: sealSecret(sealer, projectNumber, name, secret),
        off_reason: wanted.offReason ?? null,
        tells_since: at,
        created_at: at,
        updated_at: at,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return { ...present(row), secret };
  };

  /** What waits goes on where it was off; what happened meanwhile is not told. */
  const replace = async (before: WebhookRow, wanted: WantedWebhook): Promise<Webhook> => {
    const at = new Date(now());
    const row = await queries
      .updateTable('webhooks')
      .set({
        url: wanted.url,
        wanted: [...wanted.on],
        where_filter: wanted.where === undefined ? null : JSON.stringify(wanted.where),
        off_reason: null,
        ...(before.off_reason !== null && { tells_since: at }),
        ...(before.waiting > 0 && { due_at: at }),
        is_slow: before.url === wanted.url && before.is_slow,
        updated_at: at,
      })
      .where('project_number', '=', before.project_number)
      .where('name', '=', before.name)
      .returningAll()
      .executeTakeFirstOrThrow();
    return present(row);
  };

  /** Locked until the surrounding transaction ends, behind its project. @throws ApiError not_found */
  const lock = async ({ projectNumber }: ProjectScope, name: string) => {
    const row = await inProject(projectNumber)
      .where('name', '=', name)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!row) throw webhookNotFound();
    return row;
  };

  /** By name, whoever owns the project. */
  const listOf = async (projectNumber: number): Promise<Webhook[]> => {
    const rows = await inProject(projectNumber).orderBy('name').limit(maxWebhooks).execute();
    return rows.map(present);
  };

  return {
    /** Asks another service: outside of any transaction. @throws ApiError invalid_where */
    async checkWhere({ where }: WantedWebhook): Promise<void> {
      const problem = where === undefined ? null : await filters.checkFilter(where);
      if (problem !== null) throw new ApiError('invalid_where', problem);
    },

    /**
     * The secret is in the answer that makes it, and in no other.
     * @throws ApiError project_not_found, project_deleted, invalid_body, webhook_limit
     */
    set: (
      scope: ProjectScope,
      name: string,
      wanted: WantedWebhook,
    ): Promise<Webhook & { secret?: string }> =>
      database.transaction(async () => {
        checkAddress(wanted.url);
        const { projectNumber } = scope;
        const { id } = await projects.lock(scope);
        const before = await inProject(projectNumber)
          .where('name', '=', name)
          .forNoKeyUpdate()
          .executeTakeFirst();
        const set = before
          ? await replace(before, wanted)
          : await insert(projectNumber, name, wanted);
        await tellWants(id, projectNumber);
        return set;
      }),

    listOf,

    /** By name. @throws ApiError project_not_found, project_deleted */
    async list(scope: ProjectScope): Promise<Webhook[]> {
      await projects.get(scope);
      return listOf(scope.projectNumber);
    },

    /** @throws ApiError project_not_found, project_deleted, not_found */
    async get(scope: ProjectScope, name: string): Promise<Webhook> {
      await projects.get(scope);
      const row = await inProject(scope.projectNumber).where('name', '=', name).executeTakeFirst();
      if (!row) throw webhookNotFound();
      return present(row);
    },

    /** With its log and what waits. @throws ApiError project_not_found, project_deleted, not_found */
    remove: (scope: ProjectScope, name: string): Promise<void> =>
      database.transaction(async () => {
        const { id } = await projects.lock(scope);
        const { project_number: projectNumber } = await lock(scope, name);
        await queries
          .deleteFrom('webhooks')
          .where('project_number', '=', projectNumber)
          .where('name', '=', name)
          .execute();
        await tellWants(id, projectNumber);
      }),

    /** @throws ApiError project_not_found, project_deleted, not_found */
    renewSecret: (scope: ProjectScope, name: string): Promise<string> =>
      database.transaction(async () => {
        await projects.lock(scope);
        const before = await lock(scope, name);
        const secret = newSecret();
        await queries
          .updateTable('webhooks')
          .set({
            sealed_secret: sealSecret(sealer, before.project_number, name, secret),
            sealed_previous: before.sealed_secret,
            previous_until: new Date(now() + overlapMs),
          })
          .where('project_number', '=', before.project_number)
          .where('name', '=', name)
          .execute();
        return secret;
      }),
  };
};
