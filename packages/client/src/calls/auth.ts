import type { Accounts, WaitingSignIn } from '../accounts/accounts.ts';
import { BacklotError } from '../error.ts';
import type { Transport } from '../transport.ts';
import type { Session, SignInAnswer, User } from '../user.ts';

export type { Block, User } from '../user.ts';

/** Where a signed-in user's token is kept. */
export interface TokenStorage {
  get(): string | null | Promise<string | null>;
  /** @param token null when the user has signed out */
  set(token: string | null): void | Promise<void>;
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

/** Ways beside a password, and what belongs to them: they are loaded with the first call of them. */
export const laterCalls =
  'resendVerification changeEmail confirmEmailChange providers ways signInWith openSignIn finishSignIn guest code showLink verifyCode signInWithPasskey addPasskey passkeys renamePasskey deletePasskey verifyFactor addTotp confirmTotp factors deleteFactor renewRecoveryCodes identities linkIdentity unlinkIdentity reauthenticate events sessions endSession endOtherSessions';

type AnyCall = (...given: unknown[]) => unknown;

const createLater = (load: () => Promise<Accounts>): Accounts => {
  let loaded: Promise<Accounts> | undefined;
  const calls = laterCalls.split(' ').map((name): [string, AnyCall] => [
    name,
    async (...given) => {
      loaded ??= load();
      loaded.catch(() => {
        loaded = undefined;
      });
      return (((await loaded) as Record<string, unknown>)[name] as AnyCall)(...given);
    },
  ]);
  return Object.fromEntries(calls) as unknown as Accounts;
};

export type Auth = ReturnType<typeof createAuth>;

/** @param devices keeps what a remembered device needs for no second factor */
export const createAuth = (transport: Transport, storage: TokenStorage, devices: TokenStorage) => {
  const { call } = transport;
  const listeners = new Set<(user: User | null) => void>();
  /** How often all have been told. */
  let told = 0;
  const tell = (user: User | null) => {
    told++;
    for (const listener of listeners) listener(user);
    transport.watcher?.userChanged();
  };
  let waiting: WaitingSignIn | undefined;
  /** @throws BacklotError factor_required */
  const keep = async (answer: SignInAnswer, merge?: boolean): Promise<User> => {
    if ('factorToken' in answer) {
      waiting = { ...answer, merge };
      throw new BacklotError(0, {
        code: 'factor_required',
        error: 'A second factor is needed.',
        hint: 'Then: auth.verifyFactor(code).',
      });
    }
    const { token, user } = answer;
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

  const later = createLater(async () => {
    const { createAccounts } = await import('../accounts/accounts.ts');
    const rememberDevice = async (token: string) => devices.set(token);
    return createAccounts({ transport, keep, rememberDevice, waiting: () => waiting });
  });

  return {
    /** The signed-in user; null without a token, or with one that is over. */
    me,
    /** Creates an account and signs in. @param account `invitation`: the token of a mailed one, to whose group the user then belongs */
    signUp: async (account: {
      email: string;
      password: string;
      name?: string;
      invitation?: string;
    }): Promise<User> => keep(await post<Session>('signup', account)),
    /**
     * @param account `merge: true` gives it what a guest has who is signed in here
     * @throws BacklotError factor_required, then `verifyFactor` ends it
     */
    async signIn(account: { email: string; password: string; merge?: boolean }): Promise<User> {
      const deviceToken = await devices.get();
      const body = deviceToken === null ? account : { ...account, deviceToken };
      return keep(await post<SignInAnswer>('signin', body), account.merge);
    },
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
      publicProfile?: Record<string, unknown>;
    }): Promise<User> => (await call<{ user: User }>('PATCH', '/auth/me', { body: changes })).user,
    /** Erases the account. @throws BacklotError reauthentication_needed, as `reauthenticate` says */
    async deleteMe(): Promise<void> {
      await call('DELETE', '/auth/me');
      await forget();
    },
    /** Ends all other sessions. */
    changePassword: async (change: {
      currentPassword: string;
      newPassword: string;
    }): Promise<void> => void (await post('password', change)),
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
    ...later,
  };
};
