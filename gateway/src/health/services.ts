import { type Dependency, internalCall } from '@backlot/http';
import {
  type IdentityKey,
  identityHeader,
  internalIdentity,
  signIdentity,
  signingKey,
} from '@backlot/identity';
import type { Logger } from '@backlot/telemetry';
import { z } from 'zod';
import type { ServiceHealth } from './health.ts';

/** Less than whoever asks for readiness waits. */
const timeoutMs = 2000;

export interface ServicesHealthOptions {
  identityKeys: readonly IdentityKey[];
  now: () => number;
  log: Pick<Logger, 'error'>;
}

const answerOfService = z.object({
  dependencies: z
    .array(
      z.object({
        name: z.string(),
        state: z.enum(['works', 'degraded', 'missing']),
        reason: z.string().optional(),
        since: z.string(),
      }),
    )
    .max(20)
    .default([]),
});

const lookAt = async (
  service: string,
  origin: string,
  { identityKeys, now, log }: ServicesHealthOptions,
): Promise<ServiceHealth> => {
  const key = signingKey(identityKeys, service);
  const identity = signIdentity(internalIdentity, internalCall('GET', '/readyz'), key, now());
  try {
    const response = await fetch(`${origin}/readyz`, {
      headers: { [identityHeader]: identity },
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    });
    const { dependencies = [] } = answerOfService.safeParse(await response.json()).data ?? {};
    if (response.status === 401)
      log.error(
        { service },
        "a service refuses the gateway's identity; check BACKLOT_IDENTITY_KEYS of both",
      );
    const reason = response.status === 401 ? 'refuses_identity' : 'not_ready';
    return {
      service,
      dependencies: dependencies as readonly Dependency[],
      ...(!response.ok && { reason }),
    };
  } catch {
    return { service, dependencies: [], reason: 'out_of_reach' };
  }
};

/** How each service is, and what it finds of what it needs. @param origins by service */
export const healthOfServices = (
  origins: Record<string, string>,
  options: ServicesHealthOptions,
): Promise<ServiceHealth[]> =>
  Promise.all(Object.entries(origins).map(([name, origin]) => lookAt(name, origin, options)));
