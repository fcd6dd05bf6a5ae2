import { type Bus, listenTo } from '@backlot/bus';
import {
  ApiError,
  events,
  platformProject,
  type SessionDirectory,
  type SessionSnapshot,
} from '@backlot/contract';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import type { GatewayProject } from './gateway-project.ts';
import { createLookupCache } from './lookup-cache.ts';
import { createSigningKeys } from './signing-keys.ts';

/** A verified token of a live session. */
export interface Session extends SessionSnapshot {
  /** Public id of the project that the token was made for. */
  audience: string;
  userId: string;
  sessionId: string;
  /** `<project number>:<session id>`, as revocations are noted. */
  sessionKey: string;
  /** `<project number>:<user id>`, as changes of role and groups are noted. */
  userKey: string;
  /** How many changes of users had been heard of before it was asked for. */
  knownChanges: number;
  /** When its user signed in. */
  issuedAtMs: number;
  expiresAtMs: number;
}

export interface CachedSessions {
  /** What is known of the token without asking; undefined when it must be verified. */
  peek(token: string, project: GatewayProject): Session | undefined;
  /**
   * Verifies a token for use in `project`: one of that project or of `platform`; null when it is bad,
   * expired, for another project, or its session has ended.
   * @throws ApiError unavailable when the auth service does not answer.
   */
  verify(token: string, project: GatewayProject): Promise<Session | null>;
  /** Their role, their groups or whether they are verified has changed: the next call asks for it. */
  forgetUser(projectNumber: number, userId: string): void;
  forget(): void;
  listen(bus: Bus): Promise<void>;
}

const maxTokens = 50_000;
const maxRevoked = 100_000;
const maxChangedUsers = 100_000;
/** Bounds what a lost event can do. */
const ttlMs = 60_000;

interface Claims {
  audience: string;
  userId: string;
  sessionId: string;
  issuedAtMs: number;
  expiresAtMs: number;
}

const readClaims = (payload: unknown): Claims | null => {
  if (typeof payload !== 'object' || payload === null) return null;
  const { aud, sub, sid, iat, exp } = payload as Record<string, unknown>;
  if (
    typeof aud !== 'string' ||
    typeof sub !== 'string' ||
    typeof sid !== 'string' ||
    typeof iat !== 'number' ||
    typeof exp !== 'number'
  )
    return null;
  return {
    audience: aud,
    userId: sub,
    sessionId: sid,
    issuedAtMs: iat * 1000,
    expiresAtMs: exp * 1000,
  };
};

const decode = (token: string) => {
  try {
    return jwt.decode(token, { complete: true });
  } catch {
    return null;
  }
};

export const createCachedSessions = (
  sessions: SessionDirectory,
  options: { issuer: string; now: () => number; eventsConnected: () => boolean },
): CachedSessions => {
  const { issuer, now, eventsConnected } = options;
  const signingKeys = createSigningKeys(sessions, now);
  const revoked = new LRUCache<string, true>({
    maxSize: maxRevoked,
    sizeCalculation: () => 1,
    // A session whose revocation is forgotten must not stay in the cache.
    dispose: (_value, _key, reason) => {
      if (reason === 'evict') verified.clear();
    },
  });
  let changes = 0;
  /** The number of each user's last change. A session asked for before it is out of date. */
  const changedUsers = new LRUCache<string, number>({
    maxSize: maxChangedUsers,
    sizeCalculation: () => 1,
    dispose: (_value, _key, reason) => {
      if (reason === 'evict') verified.clear();
    },
  });

  const noteChange = (projectNumber: number, userIds: readonly string[]) => {
    changes++;
    for (const userId of userIds) changedUsers.set(`${projectNumber}:${userId}`, changes);
  };

  const readToken = async (token: string, audiences: [string, string]): Promise<Claims | null> => {
    const kid = decode(token)?.header.kid;
    if (typeof kid !== 'string') return null;
    const key = await signingKeys.find(kid);
    if (!key) return null;
    try {
      const clockTimestamp = Math.floor(now() / 1000);
      return readClaims(
        jwt.verify(token, key, {
          algorithms: ['ES256'],
          issuer,
          audience: audiences,
          clockTimestamp,
        }),
      );
    } catch {
      return null;
    }
  };

  const findSession = async (projectNumber: number, sessionId: string) => {
    try {
      return await sessions.findSession(projectNumber, sessionId);
    } catch (cause) {
      throw new ApiError(
        'unavailable',
        'Sessions can not be checked right now. Try again shortly.',
        {
          cause,
          retryAfterSeconds: 2,
        },
      );
    }
  };

  const verify = async (token: string, project: GatewayProject): Promise<Session | null> => {
    const claims = await readToken(token, [project.id, platformProject.id]);
    if (!claims) return null;
    const { audience, sessionId } = claims;
    const number = audience === project.id ? project.number : platformProject.number;
    const sessionKey = `${number}:${sessionId}`;
    if (revoked.has(sessionKey)) return null;
    const knownChanges = changes;
    const session = await findSession(number, sessionId);
    if (!session || revoked.has(sessionKey)) return null;
    return {
      ...claims,
      ...session,
      sessionKey,
      userKey: `${number}:${claims.userId}`,
      knownChanges,
    };
  };

  const cacheKey = (token: string, project: GatewayProject) => `${project.number}:${token}`;
  const verified = createLookupCache<Session, { token: string; project: GatewayProject }>({
    load: (_key, { token, project }) => verify(token, project),
    now,
    maxEntries: maxTokens,
    ttlMs,
    expiresAt: (session) => session.expiresAtMs,
    maxAbsent: 1,
    absentTtlMs: 0,
    staleMs: 0,
    eventsConnected,
  });

  return {
    peek(token, project) {
      const session = verified.peek(cacheKey(token, project));
      if (!session || revoked.has(session.sessionKey)) return undefined;
      const change = changedUsers.get(session.userKey) ?? 0;
      return change <= session.knownChanges ? session : undefined;
    },
    verify: (token, project) => verified.load(cacheKey(token, project), { token, project }),
    forgetUser: (projectNumber, userId) => noteChange(projectNumber, [userId]),
    forget: () => verified.clear(),
    listen: (bus) =>
      listenTo(bus, events, {
        'session.revoked'({ projectNumber, sessionIds }) {
          for (const sessionId of sessionIds) revoked.set(`${projectNumber}:${sessionId}`, true);
        },
        'user.changed': ({ projectNumber, userIds }) => noteChange(projectNumber, userIds),
        'user.verified': ({ projectNumber, userId }) => noteChange(projectNumber, [userId]),
      }),
  };
};
