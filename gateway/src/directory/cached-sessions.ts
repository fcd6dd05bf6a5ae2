import type { Bus } from '@backlot/bus';
import { ApiError, type Payload, platformProject, type SessionDirectory } from '@backlot/contract';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import type { KnownProject } from './known-project.ts';
import { unheardTtlMs } from './lookup-cache.ts';
import { createSigningKeys } from './signing-keys.ts';

/** A verified token of a live session. */
export interface Session {
  /** Public id of the project that the token was made for. */
  audience: string;
  userId: string;
  sessionId: string;
  /** `<project number>:<session id>`, as revocations are noted. */
  sessionKey: string;
}

export interface CachedSessions {
  /** What is known of the token without asking; undefined when it must be verified. */
  peek(token: string): Session | undefined;
  /**
   * Verifies a token for use in `project`: one of that project or of `platform`; null when it is bad,
   * expired, for another project, or its session has ended.
   * @throws ApiError unavailable when the auth service does not answer.
   */
  verify(token: string, project: KnownProject): Promise<Session | null>;
  forget(): void;
  listen(bus: Bus): Promise<void>;
}

interface Entry {
  session: Session;
  learnedAt: number;
  until: number;
}

const maxTokens = 50_000;
const maxRevoked = 100_000;
/** Bounds what a lost event can do. */
const ttlMs = 60_000;

interface Claims {
  audience: string;
  userId: string;
  sessionId: string;
  expiresAtMs: number;
}

const readClaims = (payload: unknown): Claims | null => {
  if (typeof payload !== 'object' || payload === null) return null;
  const { aud, sub, sid, exp } = payload as Record<string, unknown>;
  if (
    typeof aud !== 'string' ||
    typeof sub !== 'string' ||
    typeof sid !== 'string' ||
    typeof exp !== 'number'
  )
    return null;
  return { audience: aud, userId: sub, sessionId: sid, expiresAtMs: exp * 1000 };
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
  options: { issuer: string; now: () => number; hears: () => boolean },
): CachedSessions => {
  const { issuer, now, hears } = options;
  const signingKeys = createSigningKeys(sessions, now);
  const tokens = new LRUCache<string, Entry>({ max: maxTokens });
  const underWay = new Map<string, Promise<Session | null>>();
  /** Counts the times when all was forgotten, so that an answer under way is not kept after one. */
  let epoch = 0;
  const revoked = new LRUCache<string, true>({
    max: maxRevoked,
    // Whose revocation is forgotten must not be found in the cache any more.
    dispose: (_value, _key, reason) => {
      if (reason !== 'evict') return;
      tokens.clear();
      epoch++;
    },
  });

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

  const isLive = async (projectNumber: number, sessionId: string) => {
    try {
      return await sessions.isLive(projectNumber, sessionId);
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

  const verify = async (token: string, project: KnownProject): Promise<Session | null> => {
    const startedIn = epoch;
    const claims = await readToken(token, [project.id, platformProject.id]);
    if (!claims) return null;
    const number = claims.audience === project.id ? project.number : platformProject.number;
    const sessionKey = `${number}:${claims.sessionId}`;
    if (
      revoked.has(sessionKey) ||
      !(await isLive(number, claims.sessionId)) ||
      revoked.has(sessionKey)
    )
      return null;
    const session = {
      audience: claims.audience,
      userId: claims.userId,
      sessionId: claims.sessionId,
      sessionKey,
    };
    if (startedIn === epoch)
      tokens.set(token, {
        session,
        learnedAt: now(),
        until: Math.min(claims.expiresAtMs, now() + ttlMs),
      });
    return session;
  };

  return {
    peek(token) {
      const entry = tokens.get(token);
      if (entry === undefined || entry.until <= now() || revoked.has(entry.session.sessionKey))
        return undefined;
      if (!hears() && now() - entry.learnedAt >= unheardTtlMs) return undefined;
      return entry.session;
    },
    verify(token, project) {
      const key = `${project.number}:${token}`;
      const running =
        underWay.get(key) ?? verify(token, project).finally(() => underWay.delete(key));
      underWay.set(key, running);
      return running;
    },
    forget() {
      tokens.clear();
      epoch++;
    },
    listen: (bus) =>
      bus.listen(['session.revoked'], ({ payload }) => {
        const { projectNumber, sessionIds } = payload as Payload<'session.revoked'>;
        for (const sessionId of sessionIds) revoked.set(`${projectNumber}:${sessionId}`, true);
      }),
  };
};
