import { ApiError, archiveLines, groupRoutes } from '@backlot/contract';
import { createQueries, type Database, violatedConstraint } from '@backlot/database';
import {
  type ArchiveStore,
  invalidArchive,
  readArchiveLines,
  toArchiveLines,
} from '@backlot/service';
import { maxGroupsPerProject } from '../groups/groups.ts';
import type { DB as Tables } from '../tables.ts';

const pageRows = 1000;

/** Groups as a project's archive has them, without invitations. */
export const createGroupsArchive = (database: Database): ArchiveStore => {
  const queries = createQueries<Tables>(database);

  const checkNumber = async (project: number) => {
    const { count } = await queries
      .selectFrom('groups')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('project_number', '=', project)
      .executeTakeFirstOrThrow();
    if (count > maxGroupsPerProject)
      throw new ApiError('group_limit', `A project has at most ${maxGroupsPerProject} groups.`);
  };

  return {
    async read({ project, after }) {
      let groups = queries
        .selectFrom('groups')
        .select(['id', 'name', 'created_at'])
        .where('project_number', '=', project.number)
        .orderBy('id')
        .limit(pageRows + 1);
      if (after !== null) groups = groups.where('id', '>', after);
      const show = (row: { id: string; name: string; created_at: Date }) => ({
        id: row.id,
        name: row.name,
        createdAt: row.created_at.toISOString(),
      });
      return toArchiveLines(await groups.execute(), pageRows, show, ({ id }) => id);
    },

    take: ({ project }, lines) =>
      database.transaction(async () => {
        const groups = readArchiveLines(archiveLines.group, lines);
        await queries
          .insertInto('groups')
          .values(
            groups.map(({ id, name, createdAt }) => ({
              project_number: project.number,
              id,
              name,
              created_at: new Date(createdAt),
            })),
          )
          .execute()
          .catch((error: unknown) => {
            if (violatedConstraint(error) !== 'groups_pkey') throw error;
            throw invalidArchive('two groups have one id');
          });
        await checkNumber(project.number);
      }),
  };
};

const separator = '/';

/** Who is in which group. */
export const createMembersArchive = (database: Database): ArchiveStore => {
  const queries = createQueries<Tables>(database);

  /** Whose identity would become too large. */
  const checkGroupsOf = async (project: number, userIds: readonly string[]) => {
    const tooMany = await queries
      .selectFrom('group_members')
      .select('user_id')
      .where('project_number', '=', project)
      .where(({ eb, fn, val }) => eb('user_id', '=', fn.any(val(userIds))))
      .groupBy('user_id')
      .having(({ eb, fn }) => eb(fn.countAll<number>(), '>', groupRoutes.maxGroupsPerUser))
      .limit(1)
      .executeTakeFirst();
    if (tooMany)
      throw invalidArchive(`a user is in at most ${groupRoutes.maxGroupsPerUser} groups`);
  };

  return {
    async read({ project, after }) {
      let members = queries
        .selectFrom('group_members')
        .select(['group_id', 'user_id', 'role', 'joined_at'])
        .where('project_number', '=', project.number)
        .orderBy('group_id')
        .orderBy('user_id')
        .limit(pageRows + 1);
      const [groupId, userId] = after?.split(separator) ?? [];
      if (groupId && userId)
        members = members.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('group_id', 'user_id'), '>', tuple(groupId, userId)),
        );
      return toArchiveLines(
        await members.execute(),
        pageRows,
        (row) => ({
          groupId: row.group_id,
          userId: row.user_id,
          role: row.role,
          joinedAt: row.joined_at.toISOString(),
        }),
        (row) => row.group_id + separator + row.user_id,
      );
    },

    take: ({ project }, lines) =>
      database.transaction(async () => {
        const members = readArchiveLines(archiveLines.member, lines);
        await queries
          .insertInto('group_members')
          .values(
            members.map(({ groupId, userId, role, joinedAt }) => ({
              project_number: project.number,
              group_id: groupId,
              user_id: userId,
              role,
              joined_at: new Date(joinedAt),
            })),
          )
          .execute()
          .catch((error: unknown) => {
            if (violatedConstraint(error) === undefined) throw error;
            throw invalidArchive('names a user or a group that is not there, or one twice');
          });
        await checkGroupsOf(
          project.number,
          members.map(({ userId }) => userId),
        );
      }),
  };
};
