import { type authRoutes, isUuid, type ListedUser, type RouteQuery } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { decodeCursor, encodeCursor, type Page } from '@backlot/http';
import { z } from 'zod';
import type { DB as Tables } from '../tables.ts';
import { isBlocked, listedColumns, presentListed } from './user-row.ts';

type UserQuery = RouteQuery<typeof authRoutes.listUsers>;

/** Each column is unique in a project; ids grow with time. */
const sortColumns = { createdAt: 'id', email: 'email' } as const;

const dayMs = 24 * 60 * 60 * 1000;

export const createUserLists = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);
  return {
    /** @throws ApiError invalid_cursor */
    async list(project: number, query: UserQuery): Promise<Page<ListedUser>> {
      const { limit, cursor, sort, email, q, status, role, ids } = query;
      const scope = {
        list: ['users', sort, email, status, role, ...(q === undefined ? [] : [q]), ...(ids ?? [])],
      };
      const after = cursor === undefined ? undefined : decodeCursor(cursor, z.string(), scope);
      const known = ids?.filter(isUuid);
      if (limit === 0 || known?.length === 0)
        return { items: [], hasMore: false, nextCursor: null };
      const isDescending = sort.startsWith('-');
      const column = sortColumns[sort.replace('-', '') as keyof typeof sortColumns];
      let users = queries
        .selectFrom('users')
        .select(listedColumns)
        .where('project_number', '=', project)
        .orderBy(column, isDescending ? 'desc' : 'asc')
        .limit(limit + 1);
      if (after !== undefined) users = users.where(column, isDescending ? '<' : '>', after);
      if (email !== undefined) users = users.where('email', '=', email);
      if (q !== undefined) {
        const begins = `${q.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
        users = users.where(({ eb, fn, or }) =>
          or([eb('email', 'like', begins), eb(fn<string>('lower', ['name']), 'like', begins)]),
        );
      }
      if (column === 'email') users = users.where('email', 'is not', null);
      if (status === 'blocked') users = users.where(isBlocked(now()));
      else if (status === 'guest') users = users.where('is_guest', '=', true);
      else if (status !== undefined)
        users = users
          .where('email_verified', '=', status === 'verified')
          .where('is_guest', '=', false);
      if (known !== undefined) users = users.where('id', 'in', known);
      if (role !== undefined) users = users.where('role', '=', role);
      const rows = await users.execute();
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const hasMore = rows.length > limit;
      return {
        items: shown.map((row) => presentListed(row, now())),
        hasMore,
        nextCursor: hasMore && last ? encodeCursor(String(last[column]), scope) : null,
      };
    },

    /** Oldest first, days without any included; erased accounts are no more counted. */
    async signUps(project: number, days: number) {
      const first = new Date(now() - (days - 1) * dayMs).toISOString().slice(0, 10);
      const rows = await database.query<{ day: string; sign_ups: number; verified: number }>(
        `SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*) AS sign_ups,
                count(*) FILTER (WHERE email_verified) AS verified
           FROM users WHERE project_number = $1 AND created_at >= $2 GROUP BY 1`,
        [project, new Date(first)],
      );
      const known = new Map(rows.map((row) => [row.day, row]));
      return Array.from({ length: days }, (_, n) => {
        const day = new Date(Date.parse(first) + n * dayMs).toISOString().slice(0, 10);
        const { sign_ups: signUps = 0, verified = 0 } = known.get(day) ?? {};
        return { day, signUps, verified };
      });
    },
  };
};

export type UserLists = ReturnType<typeof createUserLists>;
