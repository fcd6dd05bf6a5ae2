import { isUuid, type PeopleAsking, type Person } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { Selectable } from 'kysely';
import type { JsonObject, DB as Tables } from '../tables.ts';

type Row = Selectable<Tables['users']>;

const isBlocked = (
  { blocked_at: at, blocked_until: until }: Pick<Row, 'blocked_at' | 'blocked_until'>,
  nowMs: number,
): boolean => at !== null && (until === null || until.getTime() > nowMs);

/** Users as others see them: a blocked one is nobody to them. */
export const createPeople = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);
  return {
    /**
     * Those of these users whom the caller may know of: all of the project where profiles are public, else oneself
     * and with whom one shares a group. The project's own callers know all.
     */
    async find({
      projectNumber: number,
      caller,
      userId,
      ids,
      hasPublicProfiles,
    }: PeopleAsking): Promise<Person[]> {
      let people = queries
        .selectFrom('users as u')
        .select(['u.id', 'u.name', 'u.avatar', 'u.public_profile'])
        .select(['u.blocked_at', 'u.blocked_until'])
        .where('u.project_number', '=', number)
        .where(({ eb, fn, val }) => eb('u.id', '=', fn.any(val(ids.filter(isUuid)))));
      if (!hasPublicProfiles && caller === 'anonymous') return [];
      if (!hasPublicProfiles && caller === 'user') {
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
      const rows = await people.execute();
      const seesBlocked = caller !== 'user' && caller !== 'anonymous';
      return rows.map((row) => {
        const { id, name, avatar } = row;
        return isBlocked(row, now()) && !seesBlocked && id !== userId
          ? { id, name: null, avatar: null, publicProfile: {} }
          : { id, name, avatar, publicProfile: row.public_profile as JsonObject };
      });
    },
  };
};

export type People = ReturnType<typeof createPeople>;
