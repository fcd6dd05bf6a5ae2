import { ApiError, type EventPayloads, type Group, groupRoutes, isUuid } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import { type Page, type PageQuery, presentPage, readPosition } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { type Selectable, sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { DB as Tables } from '../tables.ts';
import { sessionEnded } from '../users/refusals.ts';
import type { Users } from '../users/users.ts';

type GroupRow = Pick<Selectable<Tables['groups']>, 'id' | 'name' | 'created_at'>;

/** A group, and what the caller is in it; null for the project's own callers, who may do all. */
export interface OwnGroup extends GroupRow {
  role: string | null;
}

export interface GroupOptions {
  database: Database;
  outbox: Outbox<EventPayloads>;
  users: Users;
  now: () => number;
}

/** So many that nobody reaches it but by a script. */
export const maxGroupsPerProject = 100_000;
const columns = ['groups.id', 'groups.name', 'groups.created_at'] as const;

const unknownGroup = () => new ApiError('not_found', 'There is no such group.');

export const presentGroup = ({ id, name, role, created_at }: OwnGroup): Group => ({
  id,
  name,
  role,
  createdAt: created_at.toISOString(),
});

/** The user of the project who calls. @throws ApiError invalid_token where they have been erased */
export const lockCaller = async (users: Users, { project, userId }: Identity): Promise<string> => {
  const account = userId === null ? undefined : await users.lock(project.number, userId);
  if (!account) throw sessionEnded();
  return account.id;
};

/** @throws ApiError forbidden unless the caller is one of the group's owners */
export const checkOwns = ({ role }: OwnGroup): void => {
  if (role === null || role === 'owner') return;
  throw new ApiError('forbidden', 'Only an owner of the group may do this.');
};

/** @throws ApiError forbidden unless the caller is one of the group's owners or admins */
export const checkManages = ({ role }: OwnGroup): void => {
  if (role === null || role === 'owner' || role === 'admin') return;
  throw new ApiError('forbidden', 'Only an owner or admin of the group may do this.');
};

/**
 * Groups of users inside a project. Whatever changes a group or its members locks the group first, and
 * a user who becomes a member before that.
 */
export const createGroups = ({ database, outbox, users, now }: GroupOptions) => {
  const queries = createQueries<Tables>(database);

  const findRole = async (project: number, groupId: string, userId: string) => {
    const row = await queries
      .selectFrom('group_members')
      .select('role')
      .where('project_number', '=', project)
      .where('group_id', '=', groupId)
      .where('user_id', '=', userId)
      .executeTakeFirst();
    return row?.role;
  };

  const groupById = (project: number, id: string) => {
    if (!isUuid(id)) throw unknownGroup();
    return queries
      .selectFrom('groups')
      .select(columns)
      .where('project_number', '=', project)
      .where('id', '=', id);
  };

  /** @throws ApiError not_found to who is no member */
  const asMember = async (
    { project, caller, userId }: Identity,
    row: GroupRow,
  ): Promise<OwnGroup> => {
    if (caller !== 'user' || userId === null) return { ...row, role: null };
    const role = await findRole(project.number, row.id, userId);
    if (role === undefined) throw unknownGroup();
    return { ...row, role };
  };

  /** Whoever asks. Until the transaction ends its members stay. */
  const lockAny = async (project: number, id: string): Promise<GroupRow | undefined> =>
    groupById(project, id).forNoKeyUpdate().executeTakeFirst();

  /** Belongs into a transaction too. @throws ApiError not_found to who is no member */
  const lock = async (identity: Identity, id: string): Promise<OwnGroup> => {
    const row = await lockAny(identity.project.number, id);
    if (!row) throw unknownGroup();
    return asMember(identity, row);
  };

  /** Their roles or groups have changed: belongs into the transaction of the change. */
  const publishChange = async (project: number, userIds: string[]): Promise<void> => {
    if (userIds.length > 0)
      await outbox.append('user.changed', { projectNumber: project, userIds });
  };

  const addMember = async (
    project: number,
    { groupId, userId, role }: { groupId: string; userId: string; role: string },
  ): Promise<void> => {
    await queries
      .insertInto('group_members')
      .values({
        project_number: project,
        group_id: groupId,
        user_id: userId,
        role,
        joined_at: new Date(now()),
      })
      .execute();
    await publishChange(project, [userId]);
  };

  /** @throws ApiError group_limit */
  const checkMayJoinOneMore = async (project: number, userId: string): Promise<void> => {
    const { count } = await queries
      .selectFrom('group_members')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('project_number', '=', project)
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    if (count < groupRoutes.maxGroupsPerUser) return;
    const most = `A user can be in at most ${groupRoutes.maxGroupsPerUser} groups.`;
    throw new ApiError('group_limit', most);
  };

  /** @throws ApiError group_limit */
  const checkProjectHasRoom = async (project: number): Promise<void> => {
    const last = await queries
      .selectFrom('groups')
      .select('id')
      .where('project_number', '=', project)
      .offset(maxGroupsPerProject - 1)
      .limit(1)
      .executeTakeFirst();
    if (!last) return;
    const most = `A project can have at most ${maxGroupsPerProject} groups.`;
    throw new ApiError('group_limit', most);
  };

  /** Undefined where the project's own callers name nobody. @throws ApiError forbidden, invalid_body */
  const lockFirstOwner = async (
    identity: Identity,
    ownerId: string | undefined,
  ): Promise<string | undefined> => {
    if (identity.caller === 'user') {
      if (ownerId !== undefined && ownerId.toLowerCase() !== identity.userId)
        throw new ApiError('forbidden', '"ownerId": you become the owner of what you create.', {
          hint: 'Invite whom you want beside you, with {"role":"owner"}.',
        });
      return lockCaller(users, identity);
    }
    if (ownerId === undefined) return undefined;
    const owner = await users.lock(identity.project.number, ownerId);
    if (!owner) throw new ApiError('invalid_body', '"ownerId": is no user of this project.');
    return owner.id;
  };

  return {
    /** @throws ApiError not_found to who is no member */
    async find(identity: Identity, id: string): Promise<OwnGroup> {
      const group = groupById(identity.project.number, id);
      return asMember(identity, await group.executeTakeFirstOrThrow(unknownGroup));
    },
    lock,
    lockAny,
    addMember,
    findRole,
    publishChange,
    checkMayJoinOneMore,

    /**
     * A user becomes its owner; of the project's own callers the user whom they name, or nobody yet.
     * @throws ApiError group_limit, forbidden, invalid_body
     */
    create: (
      identity: Identity,
      { name, ownerId }: { name: string; ownerId?: string | undefined },
    ): Promise<OwnGroup> =>
      database.transaction(async () => {
        const { number } = identity.project;
        const userId = await lockFirstOwner(identity, ownerId);
        if (userId !== undefined) await checkMayJoinOneMore(number, userId);
        await checkProjectHasRoom(number);
        const row = { id: uuidv7(), name, created_at: new Date(now()) };
        await queries
          .insertInto('groups')
          .values({ project_number: number, ...row })
          .execute();
        if (userId !== undefined)
          await addMember(number, { groupId: row.id, userId, role: 'owner' });
        return { ...row, role: identity.caller === 'user' ? 'owner' : null };
      }),

    /** A user's own, or all of the project; newest first. @throws ApiError invalid_cursor */
    async list({ project, caller, userId }: Identity, query: PageQuery): Promise<Page<Group>> {
      const before = readPosition('groups', query.cursor);
      if (query.limit === 0) return { items: [], hasMore: false, nextCursor: null };
      let list = queries
        .selectFrom('groups')
        .select(columns)
        .where('groups.project_number', '=', project.number)
        .orderBy('groups.id', 'desc')
        .limit(query.limit + 1);
      if (before) list = list.where('groups.id', '<', before.id);
      const rows: OwnGroup[] =
        caller === 'user'
          ? await list
              .innerJoin('group_members as own', (join) =>
                join
                  .onRef('own.group_id', '=', 'groups.id')
                  .on('own.project_number', '=', project.number)
                  .on('own.user_id', '=', userId),
              )
              .select('own.role')
              .execute()
          : await list.select(sql<null>`null`.as('role')).execute();
      return presentPage('groups', query, rows, presentGroup);
    },

    /** @throws ApiError not_found, forbidden */
    rename: (identity: Identity, id: string, name: string): Promise<OwnGroup> =>
      database.transaction(async () => {
        const group = await lock(identity, id);
        checkManages(group);
        await queries
          .updateTable('groups')
          .set({ name })
          .where('project_number', '=', identity.project.number)
          .where('id', '=', id)
          .execute();
        return { ...group, name };
      }),

    /** Members and invitations go with it. @throws ApiError not_found, forbidden */
    remove: (identity: Identity, id: string): Promise<void> =>
      database.transaction(async () => {
        const { number } = identity.project;
        checkOwns(await lock(identity, id));
        const members = await queries
          .deleteFrom('group_members')
          .where('project_number', '=', number)
          .where('group_id', '=', id)
          .returning('user_id')
          .execute();
        await queries
          .deleteFrom('groups')
          .where('project_number', '=', number)
          .where('id', '=', id)
          .execute();
        await publishChange(
          number,
          members.map((member) => member.user_id),
        );
      }),
  };
};

export type Groups = ReturnType<typeof createGroups>;
