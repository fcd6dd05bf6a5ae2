import type { Transport } from './transport.ts';

export interface Group {
  id: string;
  name: string;
  /** What the signed-in user is in it: `owner` and `admin` manage it. */
  role: string | null;
  createdAt: string;
}

/** Whom others see: never an address. */
export interface Person {
  id: string;
  name: string | null;
  /** Id of a file. */
  avatar: string | null;
}

export interface Member extends Person {
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

export interface List<T> {
  items: T[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface PageOptions {
  limit?: number;
  /** The `nextCursor` of the page before. */
  cursor?: string;
}

export type Groups = ReturnType<typeof createGroups>;
export type Users = ReturnType<typeof createUsers>;

export const createGroups = ({ call }: Transport) => {
  const path = (id: string, ...rest: string[]) =>
    ['/groups', id, ...rest]
      .map((part, at) => (at === 0 ? part : encodeURIComponent(part)))
      .join('/');
  return {
    /** The signed-in user becomes its owner. */
    create: (name: string): Promise<Group> => call('POST', '/groups', { body: { name } }),
    /** The signed-in user's, newest first. */
    list: (options: PageOptions = {}): Promise<List<Group>> =>
      call('GET', '/groups', { query: { ...options } }),
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

export const createUsers = ({ call }: Transport) => ({
  /** Those of up to 100 users with whom the signed-in one shares a group. */
  find: async (ids: readonly string[]): Promise<Person[]> =>
    (await call<List<Person>>('GET', '/users', { query: { ids } })).items,
  /** With the token of the project's owner. */
  setRole: (id: string, role: string): Promise<Person & { role: string }> =>
    call('PATCH', `/users/${encodeURIComponent(id)}`, { body: { role } }),
});
