import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  ApiError,
  hasScope,
  type KeySnapshot,
  neededScope,
  platformProject,
  type RouteDefinition,
} from '@backlot/contract';
import type { FailedLookups } from '../addresses/failed-lookups.ts';
import type { CachedSessions, Session } from '../directory/cached-sessions.ts';
import { anonymous, type Caller } from '../directory/caller.ts';
import type { GatewayProject } from '../directory/gateway-project.ts';
import type { LookupCache } from '../directory/lookup-cache.ts';

export interface AuthenticateDeps {
  sessions: CachedSessions;
  keys: LookupCache<KeySnapshot>;
  /** SHA-256 of the operator's token, base64url; undefined when there is none. */
  operatorTokenHash: string | undefined;
  failedLookups: FailedLookups;
  /** Epoch milliseconds. */
  now: () => number;
}

/** What of a route says which credentials it looks at. */
export type AccessRules = Pick<
  RouteDefinition,
  'plane' | 'callers' | 'ignoresCredentials' | 'badCredentials'
>;

export type Authenticate = (
  req: IncomingMessage,
  definition: AccessRules,
  project: GatewayProject,
  address: string,
) => Caller | Promise<Caller>;

const maxHeaderLength = 8192;
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const secretKey = /^bk_[A-Za-z0-9_-]{43}$/;

const withBadCredential: Caller = { ...anonymous, hasBadCredential: true };
const operator: Caller = { ...anonymous, kind: 'operator' };

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

const keyExpired = (expiresAtMs: number) =>
  new ApiError('invalid_token', `This key expired at ${new Date(expiresAtMs).toISOString()}.`, {
    hint: 'The owner of the project can make another.',
  });

/**
 * Whether the key may not make this call though it is good. Such a call is counted, and spends nothing.
 */
export const lacksScope = ({ key }: Caller, definition: RouteDefinition): boolean => {
  const needed = neededScope(definition);
  return key !== null && needed !== null && !hasScope(key.scopes, needed);
};

export const scopeMissing = ({ key }: Caller, definition: RouteDefinition): ApiError => {
  const needed = neededScope(definition);
  return new ApiError(
    'forbidden',
    `This call takes a key with the scope "${needed}"; this one has ${key?.scopes?.join(', ')}.`,
    { hint: `The owner of the project can make one: {"name": "…", "scopes": ["${needed}"]}.` },
  );
};

const readBearer = (req: IncomingMessage): string | undefined => {
  const header = req.headers.authorization;
  if (header === undefined) return undefined;
  const token = header.length <= maxHeaderLength ? bearer.exec(header)?.[1] : undefined;
  if (token === undefined || leftByVariables.has(token)) throw noToken();
  return token;
};

/** A user of the project, or its owner by a token of `platform`. */
const asCaller = (
  session: Session | null,
  definition: AccessRules,
  project: GatewayProject,
): Caller => {
  if (!session) throw invalidToken(definition);
  const { userId, sessionId, issuedAtMs } = session;
  const person = { userId, sessionId, key: null, signedInAtMs: issuedAtMs };
  const isPlatformToken = session.audience === platformProject.id;
  if (definition.plane === 'platform' && isPlatformToken) return { kind: 'owner', ...person };
  if (session.audience === project.id) {
    const { role, groups, emailVerified } = session;
    return {
      kind: 'user',
      ...person,
      role,
      ...(groups.length > 0 && { groups }),
      ...(emailVerified !== undefined && { emailVerified }),
    };
  }
  if (isPlatformToken && project.ownerId === userId) return { kind: 'owner', ...person };
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
  operatorTokenHash,
  failedLookups,
  now,
}: AuthenticateDeps): Authenticate => {
  const operatorHash =
    operatorTokenHash === undefined ? undefined : Buffer.from(operatorTokenHash, 'base64url');

  const isOperator = (tokenHash: string) => {
    const presented = Buffer.from(tokenHash, 'base64url');
    return (
      operatorHash !== undefined &&
      presented.length === operatorHash.length &&
      timingSafeEqual(presented, operatorHash)
    );
  };

  const withKey = (
    key: KeySnapshot | null,
    definition: AccessRules,
    project: GatewayProject,
  ): Caller => {
    const onPlatform = definition.plane === 'platform';
    if (!key || (!onPlatform && key.projectNumber !== project.number))
      throw invalidToken(definition);
    const { expiresAtMs } = key;
    if (expiresAtMs !== undefined && expiresAtMs <= now()) throw keyExpired(expiresAtMs);
    if (onPlatform && !definition.callers.includes('key')) throw notForKeys(definition);
    return { ...anonymous, kind: 'key', key };
  };

  const withToken = (
    token: string,
    definition: AccessRules,
    project: GatewayProject,
    address: string,
  ): Caller | Promise<Caller> => {
    const cached = sessions.peek(token, project);
    if (cached) return asCaller(cached, definition, project);
    const tokenHash = hash('sha256', token, 'base64url');
    if (secretKey.test(token)) {
      const key = keys.peek(tokenHash);
      if (key !== undefined) return withKey(key, definition, project);
      return failedLookups.run(address, async () =>
        withKey(await keys.load(tokenHash), definition, project),
      );
    }
    if (isOperator(tokenHash)) return operator;
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
