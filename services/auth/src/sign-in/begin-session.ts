import type { SessionAnswer, SignInAnswer } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { hashIp } from '../counters.ts';
import type { RememberedDevices } from '../factors/remembered-devices.ts';
import type { WaitingSignIns } from '../factors/waiting-sign-ins.ts';
import type { AccessTokens } from '../sessions/access-tokens.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { toPlace } from '../sign-in-events/place.ts';
import type { SignInEvents } from '../sign-in-events/sign-in-events.ts';
import type { Account } from '../users/user-row.ts';
import type { Users } from '../users/users.ts';
import type { Merges } from './merges.ts';
import { isFactorRequired } from './required-factor.ts';

/** Those that show one factor of an account which may have two. */
export type FirstFactor = 'password' | 'code' | 'oauth';

export interface SignIn {
  /** How whoever signs in has shown that the account is theirs. */
  method: FirstFactor | 'sign-up' | 'passkey' | 'guest';
  /** For the log of sign-ins, where the method says too little: the provider. */
  detail?: string | undefined;
  /** Of a device that may be remembered. */
  deviceToken?: string | undefined;
  /** They have shown the second factor too. */
  hasSecondFactor?: true;
  /** What is the calling guest's becomes the account's, once a session begins. */
  merge?: boolean | undefined;
}

export interface BegunSession<Answer extends SignInAnswer = SignInAnswer> {
  body: Answer;
  /**
   * Stores the session, with what is merged, or that it waits for a second factor, which merges nothing; false where the account is gone or has changed
   * its password since it was read. Belongs into the transaction of what has let them in.
   */
  commit: () => Promise<boolean>;
}

interface BeginSessionOptions {
  merges: Pick<Merges, 'into'>;
  signInEvents: SignInEvents;
  sessions: Sessions;
  accessTokens: AccessTokens;
  users: Users;
  waitingSignIns: WaitingSignIns;
  rememberedDevices: RememberedDevices;
}

export interface BeginSession {
  (
    caller: Identity,
    account: Account,
    how: SignIn & ({ method: 'sign-up' | 'passkey' | 'guest' } | { hasSecondFactor: true }),
  ): Promise<BegunSession<SessionAnswer>>;
  (caller: Identity, account: Account, how: SignIn): Promise<BegunSession>;
}

/** What an account is asked for after the first factor; none where that is enough. */
const askedFactors = (project: Identity['project'], account: Account) => {
  const { has_totp: hasTotp, has_passkey: hasPasskey } = account;
  if (!hasTotp && !(hasPasskey && isFactorRequired(project, account))) return [];
  return [
    ...(hasTotp ? (['totp', 'recovery-code'] as const) : []),
    ...(hasPasskey ? (['passkey'] as const) : []),
  ];
};

/** The one way in which a session begins. */
export const createBeginSession = ({
  sessions,
  accessTokens,
  users,
  waitingSignIns,
  rememberedDevices,
  signInEvents,
  merges,
}: BeginSessionOptions): BeginSession => {
  const begin = async (
    caller: Identity,
    account: Account,
    { method, detail = method, merge }: SignIn,
    hasSecondFactor: boolean,
  ): Promise<BegunSession<SessionAnswer>> => {
    const { project, ip } = caller;
    const session = sessions.create(account.id, { hasSecondFactor });
    const from = { ipHash: hashIp(ip), method, ...toPlace(caller) };
    const token = await accessTokens.issue(project.id, session);
    return {
      body: { token, user: users.present(account) },
      async commit() {
        if (!(await sessions.start(project.number, session, account, from))) return false;
        await signInEvents.add(caller, account.id, { kind: 'signed_in', detail });
        if (merge) await merges.into(caller, account.id, { hasSecondFactor });
        return true;
      },
    };
  };

  const isRemembered = async ({ project }: Identity, account: Account, token?: string) =>
    token !== undefined && (await rememberedDevices.isRemembered(project.number, account, token));

  const beginOrAsk = async (
    caller: Identity,
    account: Account,
    how: SignIn,
  ): Promise<BegunSession> => {
    const { method, deviceToken, hasSecondFactor } = how;
    if (method === 'passkey' || hasSecondFactor) return begin(caller, account, how, true);
    const factors = askedFactors(caller.project, account);
    if (factors.length === 0) return begin(caller, account, how, false);
    if (await isRemembered(caller, account, deviceToken)) return begin(caller, account, how, true);
    const factorToken = waitingSignIns.newToken();
    return {
      body: { factorToken, factors },
      commit: () => waitingSignIns.store(caller.project.number, factorToken, account, method),
    };
  };
  return beginOrAsk as BeginSession;
};
