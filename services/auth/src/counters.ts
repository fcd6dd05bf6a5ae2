import { createHash } from 'node:crypto';
import { platformProject } from '@backlot/contract';
import { toNetwork } from '@backlot/http';
import type { AttemptLimit, AuthConfig } from './config.ts';

export interface Counter {
  key: Buffer;
  limit: AttemptLimit;
  /** Attempts that succeed stay counted too. */
  keepsSuccesses?: boolean;
}

export const sha256 = (...parts: string[]) =>
  createHash('sha256').update(parts.join('\n')).digest();

/** A caller's IP address as tables keep it. */
export const hashIp = (ip: string): Buffer => sha256('address', ip);

/** A network refuses nobody: past four times what one address of it may, it asks for work. */
const fromNetwork = (what: string, ip: string, { windowMs, proofFrom }: AttemptLimit): Counter => ({
  key: sha256(`${what} from network`, toNetwork(ip) ?? ip),
  limit: { windowMs, max: 1_000_000_000, proofFrom: proofFrom && 4 * proofFrom },
});

/** Which counters a call has (docs/api.md, "Accounts"). */
export const createCounters = (limits: AuthConfig['limits']) => ({
  /**
   * An IP address from which the account signed in before has a counter of its own, so that others'
   * failures can't lock it out. Every attempt costs a hash, so successes of one address are bounded too.
   */
  signIn(
    email: string,
    ip: string,
    account: { id: string; ip_known: boolean } | undefined,
  ): Counter[] {
    const all = {
      key: sha256('sign-ins', email, ip),
      limit: limits.signInsPerEmailAndIp,
      keepsSuccesses: true,
    };
    if (account?.ip_known) {
      const key = sha256('sign-in from known', account.id, ip);
      return [{ key, limit: limits.signInPerKnownIp }, all];
    }
    return [
      { key: sha256('sign-in', email), limit: limits.signInPerEmail },
      { key: sha256('sign-in from', ip), limit: limits.signInPerIp },
      fromNetwork('sign-in', ip, limits.signInPerIp),
      all,
    ];
  },
  guests: (ip: string): Counter[] => [
    { key: sha256('guests from', ip), limit: limits.guestsPerIp },
  ],
  codeCalls: (email: string, ip: string): Counter[] => [
    { key: sha256('codes to', email), limit: limits.codesPerEmail },
    { key: sha256('codes from', ip), limit: limits.codesPerIp },
  ],
  /** Over all codes of the address. */
  codeGuesses: (email: string, ip: string): Counter[] => [
    { key: sha256('code', email), limit: limits.codeGuessesPerEmail },
    { key: sha256('sign-in from', ip), limit: limits.signInPerIp },
  ],
  signUp(project: number, ip: string): Counter[] {
    const limit = project === platformProject.number ? limits.ownerSignUpPerIp : limits.signUpPerIp;
    return [{ key: sha256('sign-up from', ip), limit }, fromNetwork('sign-up', ip, limit)];
  },
  groupsFrom: (ip: string): Counter[] => [
    { key: sha256('groups from', ip), limit: limits.groupsPerIp },
  ],
  invites: (userId: string | null, ip: string): Counter[] => [
    { key: sha256('invitations of', String(userId)), limit: limits.invitesPerUser },
    { key: sha256('invitations from', ip), limit: limits.invitesPerIp },
  ],
  emailChanges: (userId: string, ip: string): Counter[] => [
    { key: sha256('e-mail changes of', userId), limit: limits.emailChangesPerUser },
    { key: sha256('e-mail changes from', ip), limit: limits.emailChangesPerIp },
  ],
  /** As with passwords: others' guesses do not lock an account out at an IP address that it knows. */
  factorGuesses(userId: string, ip: string, isIpKnown: boolean): Counter[] {
    const of = isIpKnown ? [userId, ip] : [userId];
    return [
      { key: sha256('factor guesses', ...of), limit: limits.factorGuessesPerUser },
      { key: sha256('factor guesses of a day', ...of), limit: limits.factorGuessesPerUserAndDay },
      ...(isIpKnown
        ? []
        : [{ key: sha256('factor guesses from', ip), limit: limits.factorGuessesPerIp }]),
    ];
  },
  passkeys: (ip: string): Counter[] => [
    { key: sha256('passkeys from', ip), limit: limits.passkeyFailuresPerIp },
  ],
  oauthFrom: (ip: string): Counter[] => [
    { key: sha256('oauth from', ip), limit: limits.oauthPerIp },
  ],
  resetCallsFrom: (ip: string): Counter[] => [
    { key: sha256('forgot from', ip), limit: limits.forgotPerIp },
  ],
  verifyMailsTo: (email: string): Counter[] => [
    { key: sha256('verify', email), limit: limits.forgotPerEmail },
  ],
  resetMailsTo: (email: string): Counter[] => [
    { key: sha256('forgot', email), limit: limits.forgotPerEmail },
  ],
});

export type Counters = ReturnType<typeof createCounters>;
