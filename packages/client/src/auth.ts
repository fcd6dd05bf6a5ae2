import type { Transport } from './transport.ts';

export interface User {
  id: string;
  email: string;
  name: string | null;
  /** Id of a file. */
  avatar: string | null;
  /** What the app keeps of the user, up to 8 KB as JSON. */
  profile: Record<string, unknown>;
  role: string;
  emailVerified: boolean;
  createdAt: string;
  updatedAt: string;
}

/** Where a signed-in user's token is kept. */
export interface TokenStorage {
  get(): string | null | Promise<string | null>;
  /** @param token null when the user has signed out */
  set(token: string | null): void | Promise<void>;
}

interface Session {
  token: string;
  user: User;
}

interface KeyValueStore {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** `localStorage` in browsers, memory elsewhere. @param name differs by project */
export const createTokenStorage = (name: string): TokenStorage => {
  // Even to look at it throws where a visitor allows no storage, and Node warns.
  const store = () =>
    'document' in globalThis
      ? (globalThis as { localStorage?: KeyValueStore }).localStorage
      : undefined;
  let kept: string | null = null;
  return {
    get() {
      try {
        return store()?.getItem(name) ?? kept;
      } catch {
        return kept;
      }
    },
    set(token) {
      kept = token;
      try {
        if (token === null) store()?.removeItem(name);
        else store()?.setItem(name, token);
      } catch {
        // A page may keep nothing where its visitor allows nothing: the token then lives as long as it.
      }
    },
  };
};

/** Epoch seconds of a token's beginning and end. */
const tokenTimes = (token: string): { iat: number; exp: number } | undefined => {
  try {
    const [, payload = ''] = token.split('.');
    return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return undefined;
  }
};

const isHalfOver = (token: string): boolean => {
  const times = tokenTimes(token);
  return times !== undefined && Date.now() / 1000 > (times.iat + times.exp) / 2;
};

/**
 * The current user's token, renewed once half of its time is over. A renewal that fails changes nothing:
 * the next call tries again.
 */
export const createTokenKeeper = (
  storage: TokenStorage,
  refresh: (token: string) => Promise<string>,
) => {
  let renewing: Promise<string> | undefined;
  return {
    async current(): Promise<string | null> {
      const token = await storage.get();
      if (token === null || !isHalfOver(token)) return token;
      renewing ??= refresh(token)
        .then(async (renewed) => {
          if ((await storage.get()) === token) await storage.set(renewed);
          return renewed;
        })
        .finally(() => {
          renewing = undefined;
        });
      return renewing.catch(() => token);
    },
  };
};

export type Auth = ReturnType<typeof createAuth>;

export const createAuth = ({ call }: Transport, storage: TokenStorage) => {
  const listeners = new Set<(user: User | null) => void>();
  /** How often all have been told. */
  let told = 0;
  const tell = (user: User | null) => {
    told++;
    for (const listener of listeners) listener(user);
  };
  const keep = async ({ token, user }: Session): Promise<User> => {
    await storage.set(token);
    tell(user);
    return user;
  };
  const forget = async () => {
    await storage.set(null);
    tell(null);
  };
  const post = <T>(path: string, body?: object) =>
    call<T>('POST', `/auth/${path}`, body && { body });

  const me = async (): Promise<User | null> => {
    if ((await storage.get()) === null) return null;
    try {
      return (await call<{ user: User }>('GET', '/auth/me')).user;
    } catch (error) {
      if ((error as { status?: number }).status !== 401) throw error;
      await forget();
      return null;
    }
  };

  return {
    /** The signed-in user; null without a token, or with one that is over. */
    me,
    /** Creates an account and signs in. */
    signUp: async (account: { email: string; password: string; name?: string }): Promise<User> =>
      keep(await post<Session>('signup', account)),
    signIn: async (account: { email: string; password: string }): Promise<User> =>
      keep(await post<Session>('signin', account)),
    /** Ends the session everywhere. The token is forgotten even where the server can't be told. */
    async signOut(): Promise<void> {
      try {
        await post('signout', {});
      } finally {
        await forget();
      }
    },
    updateMe: async (changes: {
      name?: string | null;
      avatar?: string | null;
      profile?: Record<string, unknown>;
    }): Promise<User> => (await call<{ user: User }>('PATCH', '/auth/me', { body: changes })).user,
    /** Erases the account. */
    async deleteMe(): Promise<void> {
      await call('DELETE', '/auth/me');
      await forget();
    },
    /** Ends all other sessions. */
    changePassword: async (change: {
      currentPassword: string;
      newPassword: string;
    }): Promise<void> => void (await post('password', change)),
    /** Mails links to the present and the new address; once both were followed, the address changes. */
    changeEmail: async (change: { email: string; password: string }): Promise<void> =>
      void (await post('change-email', change)),
    /**
     * Whether the address has changed; false while the link in the other mail has not been followed.
     * @param password as in `verifyEmail`
     */
    confirmEmailChange: async (token: string, password?: string): Promise<boolean> =>
      (await post<{ changed: boolean }>('change-email/confirm', { token, password })).changed,
    /** Mails a link, where there is such an account. */
    forgotPassword: async (email: string): Promise<void> => void (await post('forgot', { email })),
    resetPassword: async (token: string, password: string): Promise<void> =>
      void (await post('reset', { token, password })),
    /**
     * @param password of the account, from who is not signed in to it in this client: without it
     * all sessions of the account end and its password too: a link for a new one is mailed
     */
    verifyEmail: async (token: string, password?: string): Promise<void> =>
      void (await post('verify', { token, password })),
    /**
     * Told who is signed in, null for nobody: at once, of the session that is kept, and then of each sign-in
     * and sign-out of this client. Call what it returns to end that.
     */
    onChange(listener: (user: User | null) => void): () => void {
      listeners.add(listener);
      const before = told;
      me().then(
        (user) => {
          if (told === before && listeners.has(listener)) listener(user);
        },
        ({ message }: Error) => console.warn(`Backlot: auth.onChange: ${message}`),
      );
      return () => void listeners.delete(listener);
    },
  };
};
