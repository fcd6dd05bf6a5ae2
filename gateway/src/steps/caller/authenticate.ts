import type { IncomingMessage } from 'node:http';
import {
  ApiError,
  bootstrapOperator,
  hasOperatorScope,
  hasScope,
  type KeySnapshot,
  neededOperatorScope,
  neededScope,
  type OperatorSnapshot,
  platformProject,
  type RouteDefinition,
} from '@backlot/contract';
import type { FailedLookups } from '../../addresses/failed-lookups.ts';
import type { CachedSessions, Session } from '../../directory/cached-sessions.ts';
import { anonymous, type Caller } from '../../directory/caller.ts';
import type { GatewayProject } from '../../directory/gateway-project.ts';
import { hashToken } from '../../directory/hash-token.ts';
import type { LookupCache } from '../../directory/lookup-cache.ts';

export interface AuthenticateDeps {
  sessions: CachedSessions;
  keys: LookupCache<KeySnapshot>;
  operators: LookupCache<OperatorSnapshot>;
  /** Whether it is the SHA-256 of BACKLOT_OPERATOR_TOKEN, base64url. */
  isBootstrap: (tokenHash: string) => boolean;
  failedLookups: FailedLookups;
  /** Epoch milliseconds. */
  now: () => number;
}

/** What of a route says which credentials it looks at. */
export type AccessRules = Pick<
  RouteDefinition,
  'plane' | 'callers' | 'ignoresCredentials' | 'badCredentials'
>;

/** What names the caller. */
export type Credential = Pick<IncomingMessage, 'headers'>;

export type Authenticate = (
  req: Credential,
  definition: AccessRules,
  project: GatewayProject,
  address: string,
) => Caller | Promise<Caller>;

const maxHeaderLength = 8192;
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const secretKey = /^bk_[A-Za-z0-9_-]{43}$/;
const keptOperatorToken = /^bo_[A-Za-z0-9_-]{43}$/;

const withBadCredential: Caller = { ...anonymous, hasBadCredential: true };
const bootstrap: Caller = { ...anonymous, kind: 'operator', operator: bootstrapOperator };

const ownersToken =
  "The control plane takes an owner's token: POST /api/runtime/platform/auth/signin. To become one: POST /api/runtime/platform/auth/signup.";
const invalidTokenHints = {
  platform: ownersToken,
  runtime: 'A token is valid in the project that gave it: POST /auth/signin gives a new one.',
};

export const invalidToken = ({ plane }: Pick<RouteDefinition, 'plane'>) =>
  new ApiError('invalid_token', 'The credential is not valid here, or it has expired.', {
    hint: invalidTokenHints[plane],
  });

/** Of a variable that was empty. */
const leftByVariables = new Set(['undefined', 'null']);

const noToken = () =>
  new ApiError('invalid_token', 'The header Authorization holds no token.', {
    hint: 'Send it as Authorization: Bearer <token>.',
  });

const notForKeys = ({ callers }: AccessRules) =>
  new ApiError(
    'invalid_token',
    `No secret key opens this call: send the token of ${callers.includes('owner') ? 'an owner' : 'the operator'}.`,
  );

const expired = (what: string, expiresAtMs: number, hint: string) =>
  new ApiError('invalid_token', `This ${what} expired at ${new Date(expiresAtMs).toISOString()}.`, {
    hint,
  });

/**
 * Whether the key or the operator's token may not make this call though it is good. Such a call is counted, and spends nothing.
 */
export const lacksScope = ({ key, operator }: Caller, definition: RouteDefinition): boolean => {
  if (operator) return !hasOperatorScope(operator.scope, neededOperatorScope(definition));
  const needed = neededScope(definition);
  return key !== null && needed !== null && !hasScope(key.scopes, needed);
};

export const scopeMissing = ({ key, operator }: Caller, definition: RouteDefinition): ApiError => {
  if (operator)
    return new ApiError(
      'forbidden',
      `This call takes an operator's token with the scope "${neededOperatorScope(definition)}"; "${operator.name}" has ${operator.scope}.`,
      {
        hint: 'An operator with the scope "admin" can make one: POST /api/platform/operator-tokens.',
      },
    );
  const needed = neededScope(definition);
  return new ApiError(
    'forbidden',
    `This call takes a key with the scope "${needed}"; this one has ${key?.scopes?.join(', ')}.`,
    { hint: `The owner of the project can make one: {"name": "…", "scopes": ["${needed}"]}.` },
  );
};

/** @throws ApiError invalid_token */
export const readBearer = (req: Credential): string | undefined => {
  const header = req.headers.authorization;
  if (header === undefined) return undefined;
  const token = header.length <= maxHeaderLength ? bearer.exec(header)?.[1] : undefined;
  if (token === undefined || leftByVariables.has(token)) throw noToken();
  return token;
};

/** An owner as the project's own or as one of its members; undefined where they are neither. */
export const enterProject = (
  caller: Caller,
  { ownerId, members = {} }: GatewayProject,
): Caller | undefined => {
  const { userId } = caller;
  if (userId === null) return undefined;
  if (userId === ownerId) return caller;
  const memberRole = Object.hasOwn(members, userId) ? members[userId] : undefined;
  return memberRole && { ...caller, memberRole };
};

/** A user of the project, or its owner or a member by a token of `platform`. */
const asCaller = (
  session: Session | null,
  definition: AccessRules,
  project: GatewayProject,
): Caller => {
  if (!session) throw invalidToken(definition);
  const { userId, sessionId, issuedAtMs, blocked } = session;
  const person = {
    userId,
    sessionId,
    key: null,
    signedInAtMs: issuedAtMs,
    ...(blocked && { blocked }),
  };
  const isPlatformToken = session.audience === platformProject.id;
  const { role, groups, emailVerified, hasSecondFactor, isGuest } = session;
  const asOwner = (): Caller => ({
    kind: 'owner',
    ...person,
    platformRole: role,
    ...(hasSecondFactor && { hasSecondFactor }),
  });
  if (definition.plane === 'platform' && isPlatformToken) return asOwner();
  if (session.audience === project.id) {
    return {
      kind: 'user',
      ...person,
      role,
      ...(groups.length > 0 && { groups }),
      ...(emailVerified !== undefined && { emailVerified }),
      ...(hasSecondFactor && { hasSecondFactor }),
      ...(isGuest && { isGuest }),
    };
  }
  const entering = isPlatformToken ? enterProject(asOwner(), project) : undefined;
  if (entering) return entering;
  throw invalidToken(definition);
};

/**
 * Who calls. Cached credentials are answered without a promise. On the control plane `project` is
 * `platform`, so that only its users' tokens and the operator's pass, and keys, which are held to their
 * own project by `checkTarget`.
 * @throws ApiError invalid_token, unauthenticated, rate_limited, unavailable
 */
export const createAuthenticate = ({
  sessions,
  keys,
  operators,
  isBootstrap,
  failedLookups,
  now,
}: AuthenticateDeps): Authenticate => {
  const withKey = (
    key: KeySnapshot | null,
    definition: AccessRules,
    project: GatewayProject,
  ): Caller => {
    const onPlatform = definition.plane === 'platform';
    if (!key || (!onPlatform && key.projectNumber !== project.number))
      throw invalidToken(definition);
    const { expiresAtMs } = key;
    if (expiresAtMs !== undefined && expiresAtMs <= now())
      throw expired('key', expiresAtMs, 'The owner of the project can make another.');
    if (onPlatform && !definition.callers.includes('key')) throw notForKeys(definition);
    return { ...anonymous, kind: 'key', key };
  };

  const asOperator = (operator: OperatorSnapshot | null, definition: AccessRules): Caller => {
    if (!operator) throw invalidToken(definition);
    const { name, scope, expiresAtMs } = operator;
    if (expiresAtMs <= now())
      throw expired('operator’s token', expiresAtMs, 'Another operator can make a new one.');
    return { ...anonymous, kind: 'operator', operator: { name, scope } };
  };

  const withToken = (
    token: string,
    definition: AccessRules,
    project: GatewayProject,
    address: string,
  ): Caller | Promise<Caller> => {
    const cached = sessions.peek(token, project);
    if (cached) return asCaller(cached, definition, project);
    const tokenHash = hashToken(token);
    if (secretKey.test(token)) {
      const key = keys.peek(tokenHash);
      if (key !== undefined) return withKey(key, definition, project);
      return failedLookups.run(address, async () =>
        withKey(await keys.load(tokenHash), definition, project),
      );
    }
    if (isBootstrap(tokenHash)) return bootstrap;
    if (keptOperatorToken.test(token)) {
      const operator = operators.peek(tokenHash);
      if (operator !== undefined) return asOperator(operator, definition);
      return failedLookups.run(address, async () =>
        asOperator(await operators.load(tokenHash), definition),
      );
    }
    return failedLookups.run(address, async () =>
      asCaller(await sessions.verify(token, project), definition, project),
    );
  };

  const withAnyToken = async (...[req, ...call]: Parameters<Authenticate>) => {
    try {
      const token = readBearer(req);
      return token === undefined ? anonymous : await withToken(token, ...call);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'invalid_token') return withBadCredential;
      throw error;
    }
  };

  return (req, definition, project, address) => {
    if (definition.ignoresCredentials) return anonymous;
    if (definition.badCredentials === 'reach-service')
      return withAnyToken(req, definition, project, address);
    const token = readBearer(req);
    if (token !== undefined) return withToken(token, definition, project, address);
    if (definition.callers.includes('anonymous')) return anonymous;
    throw new ApiError(
      'unauthenticated',
      'Sign in first: send a token as "Authorization: Bearer <token>".',
      definition.plane === 'platform' ? { hint: ownersToken } : {},
    );
  };
};
