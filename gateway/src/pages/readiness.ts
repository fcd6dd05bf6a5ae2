import { internalCall } from '@backlot/http';
import {
  type IdentityKey,
  identityHeader,
  internalIdentity,
  signIdentity,
  signingKey,
} from '@backlot/identity';
import type { Logger } from '@backlot/telemetry';

/** Less than whoever asks for readiness waits. */
const timeoutMs = 2000;

export interface ReadinessOptions {
  identityKeys: readonly IdentityKey[];
  now: () => number;
  log: Pick<Logger, 'error'>;
}

const isReady = async (
  service: string,
  origin: string,
  { identityKeys, now, log }: ReadinessOptions,
): Promise<boolean> => {
  const key = signingKey(identityKeys, service);
  const identity = signIdentity(internalIdentity, internalCall('GET', '/readyz'), key, now());
  try {
    const response = await fetch(`${origin}/readyz`, {
      headers: { [identityHeader]: identity },
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    });
    await response.body?.cancel();
    if (response.status === 401)
      log.error(
        { service },
        "a service refuses the gateway's identity; check BACKLOT_IDENTITY_KEYS of both",
      );
    return response.ok;
  } catch {
    return false;
  }
};

/** Names of the services that are not ready, or refuse the gateway's identity. @param origins by service */
export const unreadyServices = async (
  origins: Record<string, string>,
  options: ReadinessOptions,
): Promise<string[]> => {
  const answers = await Promise.all(
    Object.entries(origins).map(async ([name, origin]) =>
      (await isReady(name, origin, options)) ? [] : [name],
    ),
  );
  return answers.flat();
};
