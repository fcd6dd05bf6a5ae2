import { ApiError, isUuid, type Member, type Person } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { type Page, type PageQuery, presentPage, readPosition } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Selectable } from 'kysely';
import type { DB as Tables } from '../tables.ts';
import { endInvites } from '../users/hand-over.ts';
import { checkManages, checkOwns, type Groups } from './groups.ts';

type PersonRow = Pick<Selectable<Tables['users']>, 'id' | 'name' | 'avatar'>;
type MemberRow = PersonRow & Pick<Selectable<Tables['group_members']>, 'role' | 'joined_at'>;

interface MemberOptions {
  database: Database;
  groups: Groups;
}

const unknownMember = () => new ApiError('not_found', 'This group has no such member.');

const presentPerson = ({ id, name, avatar }: PersonRow): Person => ({ id, name, avatar });

const presentMember = (row: MemberRow): Member => ({
  ...presentPerson(row),
  role: row.role,
  joinedAt: row.joined_at.toISOString(),
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

    /** Those of these users whom the caller may know of; the project's own callers know all. */
    async findPeople(
      { project: { number }, caller, userId }: Identity,
      ids: readonly string[],
    ): Promise<Person[]> {
      let people = queries
        .selectFrom('users as u')
        .select(['u.id', 'u.name', 'u.avatar'])
        .where('u.project_number', '=', number)
        .where(({ eb, fn, val }) => eb('u.id', '=', fn.any(val(ids.filter(isUuid)))));
      if (caller === 'user') {
        people = people.where(({ eb, or, exists, selectFrom }) =>
          or([
            eb('u.id', '=', userId),
            exists(
              selectFrom('group_members as own')
                .innerJoin('group_members as other', (join) =>
                  join
                    .onRef('other.group_id', '=', 'own.group_id')
                    .onRef('other.user_id', '=', 'u.id')
                    .on('other.project_number', '=', number),
                )
                .select('own.group_id')
                .where('own.project_number', '=', number)
                .where('own.user_id', '=', userId),
            ),
          ]),
        );
      }
      return (await people.execute()).map(presentPerson);
    },
  };
};

export type Members = ReturnType<typeof createMembers>;
