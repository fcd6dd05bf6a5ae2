import { createPublicKey, type KeyObject } from 'node:crypto';
import { ApiError, type Jwks, type SessionDirectory } from '@backlot/contract';
import { withTimeout } from '@backlot/http';

export interface SigningKeys {
  /** The public key of that id, or null when no such key is published. */
  find(kid: string): Promise<KeyObject | null>;
}

/** A made-up key id must not become a call to the auth service each time. */
const minRefetchMs = 5000;
/** Keys older than this are fetched anew while they serve. */
const freshMs = 2000;
/** Past this the fetch is waited for: a key that was taken back serves no longer where auth answers. */
const maxAgeMs = 5000;
const patienceMs = 500;
const maxKeys = 100;

const readKeys = ({ keys }: Jwks): Map<string, KeyObject> => {
  const read = new Map<string, KeyObject>();
  for (const jwk of keys.slice(0, maxKeys)) {
    if (jwk.kty === 'EC' && jwk.crv === 'P-256')
      read.set(jwk.kid, createPublicKey({ key: { ...jwk }, format: 'jwk' }));
  }
  return read;
};

/** The auth service's public keys, parsed once. @throws ApiError unavailable when they can't be fetched. */
export const createSigningKeys = (sessions: SessionDirectory, now: () => number): SigningKeys => {
  let keys = new Map<string, KeyObject>();
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;

  const fetchOnce = () => {
    if (fetching !== undefined) return fetching;
    triedAt = now();
    fetching = sessions
      .jwks()
      .then((jwks) => {
        keys = readKeys(jwks);
        fetchedAt = now();
      })
      .finally(() => {
        fetching = undefined;
      });
    return fetching;
  };

  /** Of a key that is known: one that auth can't be asked about goes on. */
  const renew = async (age: number) => {
    if (age < freshMs) return;
    const triedMs = now() - triedAt;
    // Only at its beginning a try is waited for, and a failed one is not repeated at once.
    if (triedMs < freshMs && (fetching === undefined || triedMs > patienceMs)) return;
    const renewing = fetchOnce().catch(() => {});
    if (age >= maxAgeMs) await withTimeout(() => renewing, patienceMs);
  };

  return {
    async find(kid) {
      const age = now() - fetchedAt;
      if (keys.has(kid)) await renew(age);
      else if (age >= minRefetchMs)
        await fetchOnce().catch((cause: unknown) => {
          throw new ApiError(
            'unavailable',
            'Tokens can not be verified right now. Try again shortly.',
            { cause, retryAfterSeconds: 2 },
          );
        });
      return keys.get(kid) ?? null;
    },
  };
};
