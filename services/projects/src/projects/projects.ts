import {
  ApiError,
  type EventPayloads,
  type GivenRole,
  type MemberRole,
  type ProjectSettings,
  platformProject,
  type Suspension,
} from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import { type Page, type PageQuery, type Position, readPage } from '@backlot/http';
import { type Selectable, sql } from 'kysely';
import type { ProjectsConfig } from '../config.ts';
import type { Owners } from '../owners.ts';
import type { Project as ProjectTable, DB as Tables } from '../tables.ts';
import { claimExternalId } from './external-id.ts';
import { lockOwner, suspensionsOfNew } from './owner-lock.ts';
import { isProjectId, randomProjectId } from './project-id.ts';
import { inScope, type ProjectScope, projectDeleted, projectNotFound, roleOf } from './scope.ts';

export interface Project {
  id: string;
  name: string;
  /** What its owner's own software calls it. */
  externalId?: string;
  ownerId: string | null;
  status: 'active' | 'paused' | 'deleted';
  baseUrl: string;
  settings: ProjectSettings;
  createdAt: string;
  suspensions?: Suspension[];
  /** Of who asks, where it is an account. */
  role?: MemberRole;
  /** Of a preview: the id of its project. */
  previewOf?: string;
}

export interface ProjectChanges {
  name?: string | undefined;
  /** Null takes it away. */
  externalId?: string | null | undefined;
  status?: 'active' | 'paused' | undefined;
  /** Merged into what is set; null removes a setting. */
  settings?: Record<string, unknown> | undefined;
}

export interface ProjectsQuery extends PageQuery {
  /** How name or id begin. */
  q?: string | undefined;
  /** The whole name, in any case. */
  name?: string | undefined;
  externalId?: string | undefined;
  status?: Project['status'] | undefined;
  ownerId?: string | undefined;
}

export interface NewProject {
  ownerId: string;
  name: string;
  externalId?: string | undefined;
  settings?: ProjectSettings | undefined;
  /** Nobody knows it before its import has ended; at this time it is erased. */
  importingUntil?: Date;
  preview?: NewPreview | undefined;
  /** What is suspended of it from the beginning. */
  suspensions?: readonly Suspension[];
}

export interface NewPreview {
  /** The id of the project that it stands beside. */
  of: string;
  tokenHash: Buffer;
  /** Within the transaction that makes it. @throws ApiError where there may be no such preview */
  check(): Promise<void>;
}

export const projectColumns = [
  'number',
  'id',
  'name',
  'external_id',
  'owner_id',
  'status',
  'paused_by',
  'settings',
  'suspensions',
  'created_at',
  'deleted_at',
  'preview_of',
] as const;
export type ProjectRow = Pick<Selectable<ProjectTable>, (typeof projectColumns)[number]>;

export interface ProjectsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  config: ProjectsConfig;
  owners: Pick<Owners, 'isVerified'>;
  /** Epoch milliseconds. */
  now: () => number;
  newId?: () => string;
}

export type Projects = ReturnType<typeof createProjects>;

const idTries = 5;
const maxUnverifiedProjects = 3;

type ListedRow = ProjectRow & { memberRole: GivenRole | null };

/** An account's own projects, and those that it is a member of, with their previews. */
const isAmongThoseOf = (
  userId: string | null,
) => sql<boolean>`(owner_id = ${userId}::uuid OR deleted_at IS NULL)
  AND number = ANY (ARRAY(
    SELECT number FROM projects WHERE owner_id = ${userId}::uuid
    UNION ALL SELECT project_number FROM project_members WHERE user_id = ${userId}::uuid
    UNION ALL SELECT p.number FROM project_members m JOIN projects r ON r.number = m.project_number
      JOIN projects p ON p.preview_of = r.id WHERE m.user_id = ${userId}::uuid))`;

/**
 * Who has paused the project once its status is this. What the operator has paused stays so until the
 * operator resumes it.
 * @throws ApiError forbidden
 */
const pauser = (
  { number, paused_by: pausedBy }: ProjectRow,
  status: ProjectChanges['status'],
  { anyOwner: isOperator }: ProjectScope,
): string | null => {
  switch (status) {
    case undefined:
      return pausedBy;
    case 'active':
      if (pausedBy === 'operator' && !isOperator)
        throw new ApiError(
          'forbidden',
          'The operator has paused this project; only the operator can resume it.',
        );
      return null;
    case 'paused':
      if (number === platformProject.number)
        throw new ApiError('forbidden', 'The built-in project can not be paused.');
      return isOperator ? 'operator' : (pausedBy ?? 'owner');
  }
};

export const createProjects = ({
  database,
  outbox,
  config,
  owners,
  now,
  newId = randomProjectId,
}: ProjectsDeps) => {
  const queries = createQueries<Tables>(database);

  const { publicUrl, projectHostSuffix: suffix } = config;
  /** At the port of the public address, which a proxy serves both names at. */
  const baseUrlOf = ({ id, number }: ProjectRow): string => {
    const { protocol, hostname, host } = new URL(publicUrl);
    return suffix === undefined || number === platformProject.number
      ? `${publicUrl}/api/runtime/${id}`
      : `${protocol}//${id}${suffix}${host.slice(hostname.length)}/api`;
  };

  const present = (row: ProjectRow, role?: MemberRole): Project => ({
    id: row.id,
    name: row.name,
    ...(row.external_id !== null && { externalId: row.external_id }),
    ownerId: row.owner_id,
    status: row.deleted_at ? 'deleted' : (row.status as 'active' | 'paused'),
    baseUrl: baseUrlOf(row),
    settings: row.settings as ProjectSettings,
    createdAt: row.created_at.toISOString(),
    ...((row.suspensions as unknown as Suspension[]).length > 0 && {
      suspensions: row.suspensions as unknown as Suspension[],
    }),
    ...(role && { role }),
    ...(row.preview_of !== null && { previewOf: row.preview_of }),
  });

  const publishChange = (row: Pick<ProjectRow, 'id' | 'number'>) =>
    outbox.append('project.changed', { projectId: row.id, projectNumber: row.number });

  /** Undefined where the id is taken. */
  const insert = async (
    id: string,
    { ownerId, name, externalId, settings = {}, ...project }: NewProject,
  ): Promise<ProjectRow | undefined> => {
    const { importingUntil, preview, suspensions = [] } = project;
    const at = new Date(now());
    const row = await queries
      .insertInto('projects')
      .values({
        id,
        name,
        external_id: externalId ?? null,
        owner_id: ownerId,
        settings: JSON.stringify(settings),
        suspensions: JSON.stringify(suspensions),
        created_at: at,
        updated_at: at,
        ...(importingUntil && { importing_until: importingUntil }),
        ...(preview && { preview_of: preview.of, preview_hash: preview.tokenHash }),
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning(projectColumns)
      .executeTakeFirst();
    if (row && !importingUntil) await publishChange(row);
    return row;
  };

  /** Creations of one owner go one after the other, so that the bound holds under parallel calls. */
  const checkBound = async (ownerId: string, isVerified: boolean) => {
    const max = isVerified
      ? config.maxProjectsPerOwner
      : Math.min(maxUnverifiedProjects, config.maxProjectsPerOwner);
    await lockOwner(database, ownerId);
    const { count } = await queries
      .selectFrom('projects')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('owner_id', '=', ownerId)
      .executeTakeFirstOrThrow();
    if (count < max) return;
    throw new ApiError(
      'project_limit',
      isVerified
        ? `An owner may have at most ${max} projects.`
        : `An owner may have at most ${max} projects until their e-mail address is verified.`,
      {
        hint: isVerified
          ? 'Deleted projects count until they can no longer be restored.'
          : 'Follow the link in the mail that came when you signed up.',
      },
    );
  };

  /** Why no row is in scope: the project is deleted, or this caller sees none. */
  const explainMissing = async (scope: ProjectScope): Promise<ApiError> => {
    const row = await queries
      .selectFrom('projects')
      .select('number')
      .where(inScope(scope))
      .executeTakeFirst();
    return row ? projectDeleted() : projectNotFound();
  };

  /** Of a project that gets this external id, or comes back with its own. @throws ApiError forbidden, conflict */
  const claimFor = async (scope: ProjectScope, given?: string): Promise<void> => {
    const row = await queries
      .selectFrom('projects')
      .select(['number', 'owner_id', 'external_id'])
      .where(inScope(scope))
      .executeTakeFirst();
    const externalId = given ?? row?.external_id ?? null;
    if (!row || externalId === null) return;
    const { number, owner_id: ownerId } = row;
    if (ownerId === null) throw new ApiError('forbidden', 'A project of nobody has no externalId.');
    await claimExternalId(database, { ownerId, externalId, number });
  };

  return {
    present,
    claimFor,
    explainMissing,
    publishChange,
    insert,

    /** Belongs into a transaction. */
    async publishChangeOf(projectNumber: number): Promise<void> {
      const row = await queries
        .selectFrom('projects')
        .select(['id', 'number'])
        .where('number', '=', projectNumber)
        .executeTakeFirst();
      if (row) await publishChange(row);
    },

    /** Until the surrounding transaction ends. @throws ApiError project_not_found, project_deleted */
    async lock(scope: ProjectScope): Promise<{ id: string }> {
      const select = () =>
        queries
          .selectFrom('projects')
          .select('id')
          .where(inScope(scope))
          .where('deleted_at', 'is', null)
          .forNoKeyUpdate()
          .executeTakeFirst();
      const isMember = scope.role !== undefined && scope.role !== 'owner';
      const found = await select();
      // Once more: who was removed while it waited for the lock is a member no more.
      const row = found && isMember ? await select() : found;
      if (!row) throw await explainMissing(scope);
      return row;
    },

    /**
     * Looks the owner up, outside of any transaction; what it answers creates the project.
     * @throws ApiError project_limit, conflict, unavailable
     */
    async prepare(project: NewProject): Promise<() => Promise<Project>> {
      const isVerified = await owners.isVerified(project.ownerId);
      const create = async () => {
        await checkBound(project.ownerId, isVerified);
        const { ownerId, externalId } = project;
        if (externalId !== undefined) await claimExternalId(database, { ownerId, externalId });
        const suspensions = await suspensionsOfNew(database, project.ownerId, project.preview?.of);
        await project.preview?.check();
        for (let tries = 0; tries < idTries; tries++) {
          const row = await insert(newId(), { ...project, suspensions });
          if (row) return present(row, 'owner');
        }
        throw new Error(`No free project id in ${idTries} tries.`);
      };
      return () => database.transaction(create);
    },

    /** Deleted projects are listed: they can be restored. @throws ApiError invalid_cursor */
    async list(
      ownerId: string | null,
      anyOwner: boolean,
      { q, name, externalId, status, ownerId: wanted, ...query }: ProjectsQuery,
    ): Promise<Page<Project>> {
      const begins = (column: 'name' | 'id') =>
        sql<boolean>`starts_with(lower(${sql.ref(column)}), lower(${q}))`;
      const all = queries
        .selectFrom('projects')
        .select(projectColumns)
        .where('importing_until', 'is', null)
        .$if(q !== undefined, (some) => some.where(({ or }) => or([begins('name'), begins('id')])))
        .$if(name !== undefined, (some) => some.where(sql<boolean>`lower(name) = lower(${name})`))
        .$if(externalId !== undefined, (some) =>
          some.where('external_id', '=', externalId as string),
        )
        .$if(status === 'deleted', (some) => some.where('deleted_at', 'is not', null))
        .$if(status === 'active' || status === 'paused', (some) =>
          some.where('deleted_at', 'is', null).where('status', '=', status as string),
        )
        .$if(wanted !== undefined, (some) =>
          some.where(({ eb, val }) => eb('owner_id', '=', val(wanted ?? null))),
        );
      const owned = anyOwner ? all : all.where(isAmongThoseOf(ownerId));
      const read = (after: Position | undefined, count: number) => {
        const page = after
          ? owned.where(({ eb, refTuple, tuple }) =>
              eb(refTuple('created_at', 'id'), '<', tuple(after.createdAt, after.id)),
            )
          : owned;
        return page
          .select(roleOf(ownerId).as('memberRole'))
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .limit(count)
          .execute();
      };
      const show = ({ memberRole, ...row }: ListedRow) =>
        present(row, memberRole ?? (anyOwner ? undefined : 'owner'));
      return readPage('projects', query, read, show, isProjectId);
    },

    /** @throws ApiError project_not_found, project_deleted */
    async get(scope: ProjectScope): Promise<Project> {
      const row = await queries
        .selectFrom('projects')
        .select(projectColumns)
        .where(inScope(scope))
        .executeTakeFirst();
      if (!row) throw projectNotFound();
      if (row.deleted_at) throw projectDeleted();
      return present(row, scope.role);
    },

    /** @throws ApiError project_not_found, project_deleted, forbidden, conflict */
    update: (
      scope: ProjectScope,
      { name, externalId, status, settings = {} }: ProjectChanges,
    ): Promise<Project> =>
      database.transaction(async () => {
        if (externalId != null) await claimFor(scope, externalId);
        const before = await queries
          .selectFrom('projects')
          .select(projectColumns)
          .where(inScope(scope))
          .where('deleted_at', 'is', null)
          .forNoKeyUpdate()
          .executeTakeFirst();
        if (!before) throw await explainMissing(scope);
        const pausedBy = pauser(before, status, scope);
        const row = await queries
          .updateTable('projects')
          .set({
            ...(name !== undefined && { name }),
            ...(externalId !== undefined && { external_id: externalId }),
            ...(status !== undefined && { status }),
            paused_by: pausedBy,
            settings: sql`jsonb_strip_nulls(settings || ${JSON.stringify(settings)}::jsonb)`,
            updated_at: new Date(now()),
          })
          .where(inScope(scope))
          .returning(projectColumns)
          .executeTakeFirst();
        if (!row) throw projectNotFound();
        await publishChange(row);
        return present(row, scope.role);
      }),
  };
};
