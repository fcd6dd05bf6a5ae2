import {
  ApiError,
  type GivenRole,
  isUuid,
  type ProjectMember,
  projectRoutes,
} from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { Selectable } from 'kysely';
import type { Owners } from '../owners.ts';
import type { Projects } from '../projects/projects.ts';
import type { ProjectScope } from '../projects/scope.ts';
import type { DB as Tables } from '../tables.ts';

const { maxMembers, maxMemberships } = projectRoutes;

type MemberRow = Pick<
  Selectable<Tables['project_members']>,
  'user_id' | 'email' | 'role' | 'created_at'
>;

export interface MembersDeps {
  database: Database;
  projects: Projects;
  owners: Pick<Owners, 'find'>;
  now: () => number;
}

export type Members = ReturnType<typeof createMembers>;

const columns = ['user_id', 'email', 'role', 'created_at'] as const;

const presentMember = (row: MemberRow): ProjectMember => ({
  userId: row.user_id,
  email: row.email,
  // The table's CHECK allows no others.
  role: row.role as GivenRole,
  since: row.created_at.toISOString(),
});

const memberNotFound = () => new ApiError('not_found', 'This project has no such member.');

/** Who works on a project beside its owner. Changes of one project go one after the other. */
export const createMembers = ({ database, projects, owners, now }: MembersDeps) => {
  const queries = createQueries<Tables>(database);

  /** @throws ApiError conflict */
  const refusePreview = async (scope: ProjectScope) => {
    const { previewOf } = await projects.get(scope);
    if (previewOf === undefined) return;
    throw new ApiError('conflict', 'A preview has the members of its project.', {
      hint: `Those are changed there: /projects/${previewOf}/members.`,
    });
  };

  /** Gateways forget who may what in it, and in its previews. */
  const publishChange = async (projectNumber: number) => {
    const rows = await queries
      .selectFrom('projects')
      .select(['id', 'number'])
      .where(({ eb, or, selectFrom }) =>
        or([
          eb('number', '=', projectNumber),
          eb(
            'preview_of',
            'in',
            selectFrom('projects as r').select('r.id').where('r.number', '=', projectNumber),
          ),
        ]),
      )
      .execute();
    for (const row of rows) await projects.publishChange(row);
  };

  /** What they have mailed is good no more: nobody comes in by who was sent away. */
  const endInvitationsOf = (projectNumber: number, userId: string) =>
    queries
      .deleteFrom('member_invitations')
      .where('project_number', '=', projectNumber)
      .where('invited_by', '=', userId)
      .execute();

  const lockOwn = async (scope: ProjectScope) => {
    await refusePreview(scope);
    await projects.lock(scope);
  };

  const isOwner = async (projectNumber: number, userId: string) => {
    const row = await queries
      .selectFrom('projects')
      .select('owner_id')
      .where('number', '=', projectNumber)
      .executeTakeFirst();
    return row?.owner_id === userId;
  };

  const remove = async (projectNumber: number, userId: string) => {
    const row = await queries
      .deleteFrom('project_members')
      .where('project_number', '=', projectNumber)
      .where('user_id', '=', userId)
      .returning('user_id')
      .executeTakeFirst();
    if (!row) throw memberNotFound();
    await endInvitationsOf(projectNumber, userId);
    await publishChange(projectNumber);
  };

  return {
    lockOwn,

    /** The owner first. @throws ApiError project_not_found, project_deleted, unavailable */
    async list(scope: ProjectScope): Promise<ProjectMember[]> {
      const { ownerId, createdAt, previewOf } = await projects.get(scope);
      const owner = ownerId === null ? null : await owners.find(ownerId);
      const rows = await queries
        .selectFrom('project_members')
        .innerJoin('projects', 'projects.number', 'project_members.project_number')
        .select(['user_id', 'email', 'role', 'project_members.created_at'])
        .where(({ eb, val }) =>
          previewOf === undefined
            ? eb('projects.number', '=', scope.projectNumber)
            : eb('projects.id', '=', val(previewOf)),
        )
        .orderBy('project_members.created_at')
        .orderBy('user_id')
        .limit(maxMembers)
        .execute();
      const shownOwner = { email: owner?.email ?? null, role: 'owner' as const, since: createdAt };
      return [
        ...(ownerId === null ? [] : [{ userId: ownerId, ...shownOwner }]),
        ...rows.map(presentMember),
      ];
    },

    /** @throws ApiError project_not_found, project_deleted, not_found, forbidden, conflict */
    setRole: (scope: ProjectScope, userId: string, role: GivenRole): Promise<ProjectMember> =>
      database.transaction(async () => {
        await lockOwn(scope);
        if (!isUuid(userId)) throw memberNotFound();
        if (await isOwner(scope.projectNumber, userId))
          throw new ApiError('forbidden', "The owner's role stays what it is.");
        const row = await queries
          .updateTable('project_members')
          .set({ role })
          .where('project_number', '=', scope.projectNumber)
          .where('user_id', '=', userId)
          .returning(columns)
          .executeTakeFirst();
        if (!row) throw memberNotFound();
        if (role !== 'admin') await endInvitationsOf(scope.projectNumber, userId);
        await publishChange(scope.projectNumber);
        return presentMember(row);
      }),

    /** @throws ApiError project_not_found, project_deleted, not_found, forbidden, conflict */
    remove: (scope: ProjectScope, userId: string): Promise<void> =>
      database.transaction(async () => {
        await lockOwn(scope);
        if (!isUuid(userId)) throw memberNotFound();
        if (await isOwner(scope.projectNumber, userId))
          throw new ApiError('forbidden', 'The owner of a project can not be removed from it.');
        await remove(scope.projectNumber, userId);
      }),

    /** @throws ApiError project_not_found, project_deleted, forbidden, conflict */
    leave: (scope: ProjectScope): Promise<void> =>
      database.transaction(async () => {
        const { projectNumber, ownerId: userId } = scope;
        await lockOwn(scope);
        if (userId === null || (await isOwner(projectNumber, userId)))
          throw new ApiError('forbidden', 'The owner of a project can not leave it.', {
            hint: 'A project that nobody needs can be deleted.',
          });
        await remove(projectNumber, userId);
      }),

    /**
     * Belongs into a transaction that has locked the project.
     * @throws ApiError conflict, member_limit
     */
    async add(projectNumber: number, userId: string, member: { email: string; role: string }) {
      if (await isOwner(projectNumber, userId))
        throw new ApiError('conflict', 'This is a project of your own.');
      const { count, own, isIn } = await queries
        .selectNoFrom(({ selectFrom, exists }) => [
          selectFrom('project_members')
            .select(({ fn }) => fn.countAll<number>().as('count'))
            .where('project_number', '=', projectNumber)
            .as('count'),
          selectFrom('project_members')
            .select(({ fn }) => fn.countAll<number>().as('count'))
            .where('user_id', '=', userId)
            .as('own'),
          exists(
            selectFrom('project_members')
              .select('user_id')
              .where('project_number', '=', projectNumber)
              .where('user_id', '=', userId),
          ).as('isIn'),
        ])
        .executeTakeFirstOrThrow();
      if (isIn) throw new ApiError('conflict', 'You are a member of this project already.');
      if ((count ?? 0) >= maxMembers)
        throw new ApiError('member_limit', `A project has at most ${maxMembers} members.`);
      if ((own ?? 0) >= maxMemberships)
        throw new ApiError(
          'member_limit',
          `An account can be a member of at most ${maxMemberships} projects.`,
          { hint: 'Leave one that you need no more.' },
        );
      await queries
        .insertInto('project_members')
        .values({
          project_number: projectNumber,
          user_id: userId,
          ...member,
          created_at: new Date(now()),
        })
        .execute();
      await publishChange(projectNumber);
    },

    /** Whether a member has this address. */
    async hasAddress(projectNumber: number, email: string): Promise<boolean> {
      const row = await queries
        .selectFrom('project_members')
        .select('user_id')
        .where('project_number', '=', projectNumber)
        .where('email', '=', email)
        .executeTakeFirst();
      return row !== undefined;
    },

    /** An account has shown that this address is its own from now on. */
    async setAddress(userId: string, email: string): Promise<void> {
      await queries
        .updateTable('project_members')
        .set({ email })
        .where('user_id', '=', userId)
        .execute();
    },

    /** The account is gone, and is a member of nothing; again is harmless. */
    eraseAccount: (userId: string, email: string | null): Promise<void> =>
      database.acrossProjects(() =>
        database.transaction(async () => {
          const rows = await queries
            .deleteFrom('project_members')
            .where('user_id', '=', userId)
            .returning('project_number')
            .execute();
          await queries
            .deleteFrom('member_invitations')
            .where(({ eb, or }) =>
              or([eb('invited_by', '=', userId), eb('email', '=', email ?? '')]),
            )
            .execute();
          for (const row of rows) await publishChange(row.project_number);
        }),
      ),
  };
};
