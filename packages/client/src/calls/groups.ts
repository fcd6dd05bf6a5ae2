import type { List } from '../list.ts';
import { pathBelow } from '../path.ts';
import type { Transport } from '../transport.ts';
import type { Block } from './auth.ts';

export type { List } from '../list.ts';

export interface Group {
  id: string;
  name: string;
  /** What the signed-in user is in it: `owner` and `admin` manage it. */
  role: string | null;
  createdAt: string;
}

interface NamedUser {
  id: string;
  name: string | null;
  /** Id of a file. */
  avatar: string | null;
}

/** Whom others see: never an address. */
export interface Person extends NamedUser {
  /** Set by `auth.updateMe({ publicProfile })`. */
  publicProfile: Record<string, unknown>;
}

export interface Member extends NamedUser {
  role: string;
  joinedAt: string;
}

export interface Invite {
  id: string;
  email: string;
  role: string;
  createdAt: string;
  expiresAt: string;
}

export interface PageOptions {
  limit?: number;
  /** The `nextCursor` of the page before. */
  cursor?: string;
}

export type Groups = ReturnType<typeof createGroups>;
export type Users = ReturnType<typeof createUsers>;

export const createGroups = ({ call }: Transport) => {
  const path = (...parts: string[]) => pathBelow('/groups', ...parts);
  return {
    /** The signed-in user becomes its owner. */
    create: (name: string): Promise<Group> => call('POST', '/groups', { body: { name } }),
    /** The signed-in user's, newest first. */
    list: (options: PageOptions = {}): Promise<List<Group>> =>
      call('GET', '/groups', { query: { ...options } }),
    get: (id: string): Promise<Group> => call('GET', path(id)),
    rename: (id: string, name: string): Promise<Group> =>
      call('PATCH', path(id), { body: { name } }),
    async delete(id: string): Promise<void> {
      await call('DELETE', path(id));
    },
    members: (id: string, options: PageOptions = {}): Promise<List<Member>> =>
      call('GET', path(id, 'members'), { query: { ...options } }),
    setRole: (id: string, userId: string, role: string): Promise<Member> =>
      call('PATCH', path(id, 'members', userId), { body: { role } }),
    /** Also for leaving oneself. */
    async remove(id: string, userId: string): Promise<void> {
      await call('DELETE', path(id, 'members', userId));
    },
    /** Mails a link that works once. */
    invite: (id: string, invitation: { email: string; role?: string }): Promise<Invite> =>
      call('POST', path(id, 'invites'), { body: invitation }),
    invites: (id: string): Promise<List<Invite>> => call('GET', path(id, 'invites')),
    async revokeInvite(id: string, inviteId: string): Promise<void> {
      await call('DELETE', path(id, 'invites', inviteId));
    },
    /** @param token of the mailed link */
    join: (token: string): Promise<Group> => call('POST', '/groups/join', { body: { token } }),
  };
};

export interface Moderated extends NamedUser {
  role: string;
  /** Absent from who is not blocked. */
  blocked?: Block;
}

export interface SeenUser extends Moderated {
  createdAt: string;
  email?: string;
  emailVerified?: boolean;
}

export const createUsers = ({ call }: Transport) => ({
  /** Those of up to 100 users with whom the signed-in one shares a group. */
  find: async (ids: readonly string[]): Promise<Person[]> =>
    (await call<List<Person>>('GET', '/users', { query: { ids } })).items,
  /** All, newest first. For the project's owner, keys, and roles that may see users; addresses for the owner and roles that may see them. */
  list: (options: PageOptions & { role?: string } = {}): Promise<List<SeenUser>> =>
    call('GET', '/users', { query: { ...options } }),
  /** With the token of the project's owner. */
  setRole: (id: string, role: string): Promise<Moderated> =>
    call('PATCH', pathBelow('/users', id), { body: { role } }),
  /**
   * From now on the user reads what anyone reads, and writes nothing. For the project's owner, keys, and roles that may.
   * @param block `until`: a time in ISO 8601, without it for good
   */
  block: (id: string, block: { reason?: string; until?: string } = {}): Promise<Moderated> =>
    call('PATCH', pathBelow('/users', id), { body: { blocked: true, ...block } }),
  unblock: (id: string): Promise<Moderated> =>
    call('PATCH', pathBelow('/users', id), { body: { blocked: false } }),
});
