import { ApiError, type RouteDefinition } from '@backlot/contract';
import { anonymous, type Caller } from '../../directory/caller.ts';
import type { GatewayProject } from '../../directory/gateway-project.ts';

type Opening = Pick<RouteDefinition, 'method' | 'callers' | 'opensTo'>;

const isBlocked = ({ blocked }: Caller, nowMs: number): boolean =>
  blocked !== undefined && (blocked.until === null || nowMs < blocked.until);

const blockedError = ({ reason, until }: NonNullable<Caller['blocked']>): ApiError => {
  const end = until === null ? '' : ` until ${new Date(until).toISOString()}`;
  const why = reason === null ? '.' : `: ${reason}`;
  return new ApiError('blocked', `This account is blocked${end}${why}`, {
    hint: 'It reads what anyone reads. GET /auth/me tells the reason; the owner of the app, or a role that may "block-users", ends a block: PATCH /users/<id> {"blocked": false}.',
  });
};

const verifyFirst = () =>
  new ApiError('verify_first', 'Confirm your e-mail address first: follow the link in the mail.', {
    hint: 'The owner of the app has set "mustVerify". A new link: POST /auth/verify/resend.',
  });

const factorFirst = () =>
  new ApiError(
    'factor_first',
    'This account takes a second factor: sign in with it, or set one up.',
    {
      hint: 'The owner of the app has set "mustUse2fa". POST /auth/factors/totp begins with an authenticator app, POST /auth/passkeys/options with a passkey.',
    },
  );

const ownersFactorFirst = () =>
  new ApiError(
    'factor_first',
    'Owners of projects use a second factor here: sign in with it, or set one up.',
    {
      hint: 'Whoever runs this installation asks for it. "Your account" in the console sets one up, or POST /api/runtime/platform/auth/factors/totp and …/auth/passkeys/options.',
    },
  );

/** Of the project whose account it is: an owner's is `platform`. */
export type AccountRules = Pick<GatewayProject, 'mustVerify' | 'mustUse2fa'>;

/** Why an account may not make this call although its session is good; undefined where it may. */
export const refuseAccount = (
  caller: Caller,
  { method, callers, opensTo = [] }: Opening,
  { mustVerify, mustUse2fa }: AccountRules,
  nowMs: number,
): ApiError | undefined => {
  if (caller.blocked && isBlocked(caller, nowMs) && !opensTo.includes('blocked')) {
    const readsAsAnyone = method === 'GET' && callers.includes('anonymous');
    if (!readsAsAnyone) return blockedError(caller.blocked);
  }
  const { kind } = caller;
  if (kind !== 'user' && kind !== 'owner') return undefined;
  const isUnverified = kind === 'user' && mustVerify && caller.emailVerified === false;
  if (isUnverified && !opensTo.includes('unverified')) return verifyFirst();
  const role = caller.role ?? caller.platformRole ?? 'user';
  if (caller.hasSecondFactor || !mustUse2fa.has(role) || opensTo.includes('first-factor'))
    return undefined;
  return kind === 'owner' ? ownersFactorFirst() : factorFirst();
};

/** As whom services see the caller: who is blocked reads what anyone reads. */
export const showAccount = (caller: Caller, { opensTo = [] }: Opening, nowMs: number): Caller =>
  isBlocked(caller, nowMs) && !opensTo.includes('blocked')
    ? { ...anonymous, isBlocked: true }
    : caller;
