import type { SeenUser } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { type Page, type PageQuery, presentPage, readPosition, requirePower } from '@backlot/http';
import { hasPower, type Identity } from '@backlot/identity';
import type { DB as Tables } from '../tables.ts';
import { type ListedRow, listedColumns, presentListed } from './user-row.ts';

/** Who may see addresses of all users on the runtime plane: of keys those with the scope admin, on the control plane. */
const seesAddresses = (identity: Identity) =>
  identity.caller !== 'key' && hasPower(identity, 'see-emails');

/** All users of a project, as a role with the power sees them. */
export const createSeenUsers = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);

  const present =
    (withAddress: boolean) =>
    (row: ListedRow): SeenUser => {
      const { id, name, avatar, role, createdAt, isGuest, blocked, email, emailVerified } =
        presentListed(row, now());
      return {
        id,
        name,
        avatar,
        role,
        createdAt,
        isGuest,
        ...(blocked && { blocked }),
        ...(withAddress && { email, emailVerified }),
      };
    };

  return {
    /** Newest first. @throws ApiError forbidden, invalid_cursor */
    async list(
      identity: Identity,
      query: PageQuery & { role?: string | undefined },
    ): Promise<Page<SeenUser>> {
      requirePower(identity, 'see-users', 'see all users');
      const list = query.role === undefined ? 'seen-users' : `seen-users ${query.role}`;
      const before = readPosition(list, query.cursor);
      if (query.limit === 0) return { items: [], hasMore: false, nextCursor: null };
      let users = queries
        .selectFrom('users')
        .select(listedColumns)
        .where('project_number', '=', identity.project.number)
        .orderBy('id', 'desc')
        .limit(query.limit + 1);
      if (before) users = users.where('id', '<', before.id);
      if (query.role !== undefined) users = users.where('role', '=', query.role);
      return presentPage(list, query, await users.execute(), present(seesAddresses(identity)));
    },
  };
};

export type SeenUsers = ReturnType<typeof createSeenUsers>;
