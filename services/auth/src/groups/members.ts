import { ApiError, groupRoutes, isUuid, type Member } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { type Page, type PageQuery, presentPage, readPosition } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Selectable } from 'kysely';
import type { DB as Tables } from '../tables.ts';
import { endInvites } from '../users/hand-over.ts';
import { checkManages, checkOwns, type Groups } from './groups.ts';

type MemberRow = Pick<Selectable<Tables['users']>, 'id' | 'name' | 'avatar'> &
  Pick<Selectable<Tables['group_members']>, 'role' | 'joined_at'>;

interface MemberOptions {
  database: Database;
  groups: Groups;
}

const unknownMember = () => new ApiError('not_found', 'This group has no such member.');

const presentMember = ({ id, name, avatar, role, joined_at: joinedAt }: MemberRow): Member => ({
  id,
  name,
  avatar,
  role,
  joinedAt: joinedAt.toISOString(),
});

export const createMembers = ({ database, groups }: MemberOptions) => {
  const queries = createQueries<Tables>(database);
  const members = (project: number, groupId: string) =>
    queries
      .selectFrom('group_members as m')
      .innerJoin('users as u', (join) =>
        join.onRef('u.id', '=', 'm.user_id').on('u.project_number', '=', project),
      )
      .select(['u.id', 'u.name', 'u.avatar', 'm.role', 'm.joined_at'])
      .where('m.project_number', '=', project)
      .where('m.group_id', '=', groupId);

  const find = async (project: number, groupId: string, userId: string): Promise<MemberRow> => {
    if (!isUuid(userId)) throw unknownMember();
    return members(project, groupId)
      .where('m.user_id', '=', userId)
      .executeTakeFirstOrThrow(unknownMember);
  };

  /** @throws ApiError conflict where nobody else owns the group */
  const checkHasOtherOwner = async (project: number, groupId: string, userId: string) => {
    const other = await queries
      .selectFrom('group_members')
      .select('user_id')
      .where('project_number', '=', project)
      .where('group_id', '=', groupId)
      .where('role', '=', 'owner')
      .where('user_id', '<>', userId)
      .limit(1)
      .executeTakeFirst();
    if (other) return;
    throw new ApiError('conflict', 'A group needs an owner, and this is the only one.', {
      hint: 'Make another member its owner first, or delete the group.',
    });
  };

  return {
    /** Newest accounts first. @throws ApiError not_found, invalid_cursor */
    async list(identity: Identity, groupId: string, query: PageQuery): Promise<Page<Member>> {
      const before = readPosition('group-members', query.cursor);
      await groups.find(identity, groupId);
      if (query.limit === 0) return { items: [], hasMore: false, nextCursor: null };
      let list = members(identity.project.number, groupId)
        .orderBy('m.user_id', 'desc')
        .limit(query.limit + 1);
      if (before) list = list.where('m.user_id', '<', before.id);
      const rows = await list.execute();
      const placed = rows.map((row) => ({ ...row, created_at: row.joined_at }));
      return presentPage('group-members', query, placed, presentMember);
    },

    /** Owners alone make owners, or take that from one. Invitations that the member may make no more end. @throws ApiError not_found, forbidden, conflict */
    setRole: (identity: Identity, groupId: string, userId: string, role: string): Promise<Member> =>
      database.transaction(async () => {
        const { number } = identity.project;
        const group = await groups.lock(identity, groupId);
        checkManages(group);
        const member = await find(number, groupId, userId);
        if (role === 'owner' || member.role === 'owner') checkOwns(group);
        if (role !== 'owner' && member.role === 'owner')
          await checkHasOtherOwner(number, groupId, userId);
        await queries
          .updateTable('group_members')
          .set({ role })
          .where('project_number', '=', number)
          .where('group_id', '=', groupId)
          .where('user_id', '=', userId)
          .execute();
        await endInvites(database, number, { groupId, userId, role });
        await groups.publishChange(number, [userId]);
        return presentMember({ ...member, role });
      }),

    /** Everybody may leave. Their invitations end. @throws ApiError not_found, forbidden, conflict */
    remove: (identity: Identity, groupId: string, userId: string): Promise<void> =>
      database.transaction(async () => {
        const { number } = identity.project;
        const group = await groups.lock(identity, groupId);
        const isOneself = identity.caller === 'user' && identity.userId === userId;
        if (!isOneself) checkManages(group);
        const member = await find(number, groupId, userId);
        if (member.role === 'owner') {
          checkOwns(group);
          await checkHasOtherOwner(number, groupId, userId);
        }
        await queries
          .deleteFrom('group_members')
          .where('project_number', '=', number)
          .where('group_id', '=', groupId)
          .where('user_id', '=', userId)
          .execute();
        await endInvites(database, number, { groupId, userId, role: undefined });
        await groups.publishChange(number, [userId]);
      }),

    /** In which a user is, and since when. */
    async listGroups(project: number, userId: string) {
      const rows = await queries
        .selectFrom('group_members as m')
        .innerJoin('groups as g', (join) =>
          join.onRef('g.id', '=', 'm.group_id').on('g.project_number', '=', project),
        )
        .select(['g.id', 'g.name', 'm.role', 'm.joined_at'])
        .where('m.project_number', '=', project)
        .where('m.user_id', '=', userId)
        .orderBy('g.id', 'desc')
        .limit(groupRoutes.maxGroupsPerUser)
        .execute();
      return rows.map(({ joined_at, ...group }) => ({
        ...group,
        joinedAt: joined_at.toISOString(),
      }));
    },
  };
};

export type Members = ReturnType<typeof createMembers>;
