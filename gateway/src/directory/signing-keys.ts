import { createPublicKey, type KeyObject } from 'node:crypto';
import { ApiError, type Jwks, type SessionDirectory } from '@backlot/contract';

export interface SigningKeys {
  /** The public key of that id, or null when no such key is published. */
  find(kid: string): Promise<KeyObject | null>;
}

/** A made-up key id must not become a call to the auth service each time. */
const minRefetchMs = 5000;
/** A key that is no longer published is forgotten after this at the latest. */
const maxAgeMs = 300_000;
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
  let fetching: Promise<void> | undefined;

  const fetchOnce = () => {
    fetching ??= sessions
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

  return {
    async find(kid) {
      const age = now() - fetchedAt;
      const due = age >= maxAgeMs || (!keys.has(kid) && age >= minRefetchMs);
      if (due) {
        await fetchOnce().catch((cause: unknown) => {
          if (keys.has(kid)) return;
          throw new ApiError(
            'unavailable',
            'Tokens can not be verified right now. Try again shortly.',
            {
              cause,
              retryAfterSeconds: 2,
            },
          );
        });
      }
      return keys.get(kid) ?? null;
    },
  };
};
