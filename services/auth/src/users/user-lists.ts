import type { authRoutes, ListedUser, RouteQuery } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { decodeCursor, encodeCursor, type Page } from '@backlot/http';
import { z } from 'zod';
import type { DB as Tables } from '../tables.ts';
import { listedColumns, presentListed } from './user-row.ts';

type UserQuery = RouteQuery<typeof authRoutes.listUsers>;

/** Each column is unique in a project; ids grow with time. */
const sortColumns = { createdAt: 'id', email: 'email' } as const;

export const createUserLists = (database: Database) => {
  const queries = createQueries<Tables>(database);
  return {
    /** @throws ApiError invalid_cursor */
    async list(project: number, query: UserQuery): Promise<Page<ListedUser>> {
      const { limit, cursor, sort, email, status, role } = query;
      const scope = { list: ['users', sort, email, status, role] };
      const after = cursor === undefined ? undefined : decodeCursor(cursor, z.string(), scope);
      if (limit === 0) return { items: [], hasMore: false, nextCursor: null };
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
      if (status !== undefined) users = users.where('email_verified', '=', status === 'verified');
      if (role !== undefined) users = users.where('role', '=', role);
      const rows = await users.execute();
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const hasMore = rows.length > limit;
      return {
        items: shown.map(presentListed),
        hasMore,
        nextCursor: hasMore && last ? encodeCursor(last[column], scope) : null,
      };
    },
  };
};

export type UserLists = ReturnType<typeof createUserLists>;
