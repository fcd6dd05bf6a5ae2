/** Ways to sign in beside a password, and what belongs to them; loaded when the first of them is used. */
import { BacklotError } from '../error.ts';
import type { List } from '../list.ts';
import type { CallOptions, Method, Transport } from '../transport.ts';
import type { Session, SignInAnswer, User } from '../user.ts';
import type {
  Factor,
  LinkedIdentity,
  OwnSession,
  Passkey,
  Provider,
  SignInEvent,
  Ways,
} from './answers.ts';
import { browser } from './browser.ts';
import { makePasskey, showPasskey } from './passkeys.ts';
import {
  challengeOf,
  endTrip,
  heardFrom,
  isFramed,
  keepTrip,
  newVerifier,
  noPage,
  openPopup,
  ownAddress,
  type Told,
  type Trip,
} from './return-trip.ts';

/** What ends it goes on with what the first factor was sent with. */
export interface WaitingSignIn {
  factorToken: string;
  merge?: boolean | undefined;
}

export interface AccountsKit {
  transport: Transport;
  /** @throws BacklotError factor_required */
  keep(answer: SignInAnswer, merge?: boolean): Promise<User>;
  /** Of the sign-in that waits for its second factor. @throws BacklotError */
  waiting(): WaitingSignIn | undefined;
  /** Of a device that is remembered. */
  rememberDevice(token: string): Promise<void>;
}

/** A password, or a code of the authenticator app or for recovery. */
export type Proof = { password?: string } | { code?: string };

export interface MergeOptions {
  /** What becomes of a guest who is signed in here: true gives what is theirs to the account, false leaves them alone. */
  merge?: boolean;
}

export interface TripOptions extends MergeOptions {
  /** A page of the app; this one unless stated. */
  returnTo?: string;
}

const tokenPath = '/auth/oauth/token';
const handoverPath = '/auth/handover/token';

const refusal = ({ error = '', error_description }: Told) =>
  new BacklotError(0, {
    code: error === 'access_denied' ? 'sign_in_canceled' : error,
    error: error_description ?? 'The sign-in was not finished.',
  });

export const createAccounts = ({ transport, keep, waiting, rememberDevice }: AccountsKit) => {
  const base = transport.url('');
  const call = <T>(method: Method, path: string, body?: object) => {
    const options: CallOptions = body === undefined ? {} : { body };
    return transport.call<T>(method, `/auth/${path}`, options);
  };

  const codeOf = (told: Told): string => {
    if (told.code === undefined) throw refusal(told);
    return told.code;
  };
  const finish = async (trip: Trip, told: Told): Promise<User | null> => {
    const { verifier, path, isLink, merge } = trip;
    const body = { code: codeOf(told), verifier };
    if (isLink) {
      await call('POST', 'identities', body);
      return (await call<{ user: User }>('GET', 'me')).user;
    }
    const sent = { body: { ...body, merge } };
    return keep(await transport.call<SignInAnswer>('POST', path, sent), merge);
  };
  const reauthenticate = async (proof: Proof = {}): Promise<void> =>
    void (await call('POST', 'reauthenticate', proof));
  /** Leads the page away; it comes back with a code. */
  const leave = async (trip: Trip, url: (challenge: string) => string): Promise<never> => {
    if (!browser.location) throw noPage();
    keepTrip(base, trip);
    browser.location.assign(url(await challengeOf(trip.verifier)));
    // The page is on its way out.
    return new Promise<never>(() => {});
  };
  const goTo = async (
    provider: string,
    { returnTo = ownAddress(), merge }: TripOptions,
    isLink: boolean,
  ): Promise<User> => {
    const trip: Trip = { verifier: newVerifier(), path: tokenPath, isLink, merge };
    const url = (challenge: string, mode?: 'popup') =>
      transport.url(`/auth/oauth/${encodeURIComponent(provider)}`, {
        returnTo,
        challenge,
        ...(mode && { mode }),
      });
    // At the return it would be too late to ask.
    const checkProof = async () => void (isLink && (await reauthenticate()));
    if (!isFramed()) {
      await checkProof();
      return leave(trip, url);
    }
    const popup = openPopup();
    await checkProof().catch((error: unknown) => {
      popup.close();
      throw error;
    });
    const heard = heardFrom(popup, new URL(base).origin);
    popup.location.href = url(await challengeOf(trip.verifier), 'popup');
    return (await finish(trip, await heard)) as User;
  };

  return {
    /** Who else signs users in here, for buttons. */
    providers: async (): Promise<Provider[]> =>
      (await call<List<Provider>>('GET', 'providers')).items,
    /** For a form: what there is beside a password. */
    ways: async (): Promise<Ways> => {
      type Answer = List<Provider> & { ways: Omit<Ways, 'providers'> };
      const { items, ways } = await call<Answer>('GET', 'providers');
      const passkeys = ways.passkeys && browser.PublicKeyCredential !== undefined;
      return { ...ways, providers: items, passkeys };
    },
    /**
     * Leads to a provider and, with a code, back to `returnTo`, where `finishSignIn` ends it; in a frame a
     * window opens instead, and the user is answered here.
     */
    signInWith: (provider: string, options: TripOptions = {}): Promise<User> =>
      goTo(provider, options, false),
    /** Leads to the platform's own page to sign in, and back to `returnTo`, where `finishSignIn` ends it. */
    openSignIn: ({ returnTo = ownAddress(), merge }: TripOptions = {}): Promise<never> => {
      const at = new URL(base);
      const project = at.pathname.split('/').at(-1) ?? '';
      const trip = { verifier: newVerifier(), path: handoverPath, merge };
      return leave(trip, (challenge) => {
        const query = new URLSearchParams({ project, returnTo, challenge });
        // Whoever brings something along is a guest already.
        if (merge) query.set('merge', 'true');
        return `${at.origin}/account/sign-in?${query}`;
      });
    },
    /**
     * Ends what `signInWith`, `openSignIn` or `linkIdentity` has begun, when its page is opened anew; null where
     * nothing has been begun. @throws BacklotError sign_in_canceled where the user did not want to
     */
    finishSignIn: async (): Promise<User | null> => {
      const ended = endTrip(base);
      return ended ? finish(ended.trip, ended.told) : null;
    },

    /** An account without an address, which can become a whole one by any way to sign up. */
    guest: async (): Promise<User> => keep(await call<Session>('POST', 'guest')),
    /** Mails a code that signs in, or up; says the same whether the address has an account or not. */
    code: async (email: string, more?: { invitation?: string }): Promise<void> =>
      void (await call('POST', 'code', { email, ...more })),
    /** Which address the token of a mail's link signs in, in part, to ask before `verifyCode` does. */
    showLink: async (token: string): Promise<string> =>
      (await call<{ email: string }>('POST', 'code/link', { token })).email,
    /** Signs in, or up, with the code of a mail, or the token of its link. */
    verifyCode: async (
      proof: ({ email: string; code: string } | { token: string }) & {
        name?: string;
        invitation?: string;
      } & MergeOptions,
    ): Promise<User> => keep(await call<SignInAnswer>('POST', 'code/verify', proof), proof.merge),

    /** Mails the link that confirms the address once more. @throws BacklotError conflict where it is confirmed */
    resendVerification: async (): Promise<void> => void (await call('POST', 'verify/resend')),

    /** Mails links to the present and the new address; once both were followed, the address changes. */
    changeEmail: async (change: { email: string; password: string }): Promise<void> =>
      void (await call('POST', 'change-email', change)),
    /**
     * Whether the address has changed; false while the link in the other mail has not been followed.
     * @param password as in `verifyEmail`
     */
    confirmEmailChange: async (token: string, password?: string): Promise<boolean> =>
      (await call<{ changed: boolean }>('POST', 'change-email/confirm', { token, password }))
        .changed,

    signInWithPasskey: async ({ merge }: MergeOptions = {}): Promise<User> => {
      const credential = await showPasskey(() => call('POST', 'passkeys/sign-in/options'));
      return keep(await call<Session>('POST', 'passkeys/sign-in', { credential, merge }));
    },
    addPasskey: async (name?: string): Promise<Passkey> => {
      const credential = await makePasskey(() => call('POST', 'passkeys/options'));
      return call('POST', 'passkeys', { credential, ...(name && { name }) });
    },
    passkeys: async (): Promise<Passkey[]> => (await call<List<Passkey>>('GET', 'passkeys')).items,
    renamePasskey: (id: string, name: string): Promise<Passkey> =>
      call('PATCH', `passkeys/${encodeURIComponent(id)}`, { name }),
    deletePasskey: async (id: string): Promise<void> =>
      void (await call('DELETE', `passkeys/${encodeURIComponent(id)}`)),

    /** Ends a sign-in that has failed with the code `factor_required`. @param remember this device for 30 days */
    verifyFactor: async (code: string, remember = false): Promise<User> => {
      const { factorToken = '', merge } = waiting() ?? {};
      const body = { factorToken, code, remember, merge };
      const answer = await call<Session & { deviceToken?: string }>('POST', 'factors/verify', body);
      if (answer.deviceToken !== undefined) await rememberDevice(answer.deviceToken);
      return keep(answer);
    },
    /** `uri` is for a QR code; the factor counts once `confirmTotp` was told a code of it. */
    addTotp: (): Promise<{ secret: string; uri: string }> => call('POST', 'factors/totp'),
    confirmTotp: (code: string): Promise<{ recoveryCodes: string[] }> =>
      call('POST', 'factors/totp/confirm', { code }),
    factors: (): Promise<{ items: Factor[]; recoveryCodesLeft: number }> => call('GET', 'factors'),
    deleteFactor: async (id: string, code: string): Promise<void> =>
      void (await call('DELETE', `factors/${encodeURIComponent(id)}`, { code })),

    /** Ten new ones, for a code of the app or one of the old, which end. */
    renewRecoveryCodes: (code: string): Promise<{ recoveryCodes: string[] }> =>
      call('POST', 'factors/recovery-codes', { code }),

    identities: async (): Promise<LinkedIdentity[]> =>
      (await call<List<LinkedIdentity>>('GET', 'identities')).items,
    /** As `signInWith`, for whoever is signed in: from then on the provider signs them in, too. */
    linkIdentity: (provider: string, options: TripOptions = {}): Promise<User> =>
      goTo(provider, options, true),
    unlinkIdentity: async (id: string): Promise<void> =>
      void (await call('DELETE', `identities/${encodeURIComponent(id)}`)),
    /**
     * Shows that the account is the caller's, for 10 minutes: other ways of signing in, their removal and `deleteMe`
     * ask for it where the sign-in was longer ago (`reauthentication_needed`). Without a proof it tells whether one is due.
     */
    reauthenticate,
    /** Where the user is signed in, newest first. */
    sessions: async (): Promise<OwnSession[]> =>
      (await call<List<OwnSession>>('GET', 'sessions')).items,
    endSession: async (id: string): Promise<void> =>
      void (await call('DELETE', `sessions/${encodeURIComponent(id)}`)),
    /** Signs out everywhere but here. */
    endOtherSessions: async (): Promise<void> => void (await call('DELETE', 'sessions')),
    /** What happened to the own sign-in in the last 90 days, newest first. */
    events: (): Promise<List<SignInEvent>> => call('GET', 'events'),
  };
};

export type Accounts = ReturnType<typeof createAccounts>;
