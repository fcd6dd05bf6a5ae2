import { internalCall, mergeReadiness, nothingMissing, type Readiness } from '@backlot/http';
import {
  type IdentityKey,
  identityHeader,
  internalIdentity,
  signIdentity,
  signingKey,
} from '@backlot/identity';
import type { Logger } from '@backlot/telemetry';
import { z } from 'zod';

/** Less than whoever asks for readiness waits. */
const timeoutMs = 2000;

export interface ReadinessOptions {
  identityKeys: readonly IdentityKey[];
  now: () => number;
  log: Pick<Logger, 'error'>;
}

const answerOfService = z.object({
  missing: z.array(z.string()).default([]),
  degraded: z.array(z.string()).default([]),
  reasons: z.record(z.string(), z.string()).default({}),
});

/** A service that can't answer is missing itself, with all that it says it misses. */
const lookAt = async (
  service: string,
  origin: string,
  { identityKeys, now, log }: ReadinessOptions,
): Promise<Readiness> => {
  const key = signingKey(identityKeys, service);
  const identity = signIdentity(internalIdentity, internalCall('GET', '/readyz'), key, now());
  const away = { ...nothingMissing, missing: [service] };
  try {
    const response = await fetch(`${origin}/readyz`, {
      headers: { [identityHeader]: identity },
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    });
    const answer = answerOfService.safeParse(await response.json()).data ?? nothingMissing;
    if (response.status === 401)
      log.error(
        { service },
        "a service refuses the gateway's identity; check BACKLOT_IDENTITY_KEYS of both",
      );
    return response.ok ? answer : mergeReadiness([away, answer]);
  } catch {
    return away;
  }
};

/** What services miss, and those that are not ready or refuse the gateway's identity. @param origins by service */
export const readinessOfServices = async (
  origins: Record<string, string>,
  options: ReadinessOptions,
): Promise<Readiness> => {
  const looks = Object.entries(origins).map(([name, origin]) => lookAt(name, origin, options));
  return mergeReadiness(await Promise.all(looks));
};
