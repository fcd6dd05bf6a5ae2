import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { Jwks } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { uuidv7 } from 'uuidv7';

interface KeyRow {
  kid: string;
  state: 'next' | 'current' | 'retired';
  public_jwk: Jwks['keys'][number];
  sealed_private_key: Buffer;
  current_since: Date | null;
}

interface KeyRing {
  loadedAt: number;
  signer: { kid: string; privateKey: KeyObject };
  jwks: Jwks;
}

interface SigningKeyOptions {
  database: Database;
  masterKey: Buffer;
  now: () => number;
  rotationMs: number;
  /** How long a token signed by a key may live. */
  tokenMs: number;
}

/** How long a process goes on with what it has read; a rotation elsewhere is seen after this. */
const ringTtlMs = 60_000;
/** Added to a retired key's publication: processes that have not yet seen the rotation still sign with it. */
const retirementGraceMs = 3_600_000;
const ivBytes = 12;
const tagBytes = 16;
/** Any fixed number: rotations anywhere wait for each other. */
const rotationLock = 7_041_876;

const seal = (kid: string, key: KeyObject, masterKey: Buffer): Buffer => {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', masterKey, iv).setAAD(Buffer.from(kid));
  const sealed = cipher.update(key.export({ type: 'pkcs8', format: 'der' }));
  return Buffer.concat([iv, sealed, cipher.final(), cipher.getAuthTag()]);
};

const unseal = (kid: string, sealed: Buffer, masterKey: Buffer): KeyObject => {
  const decipher = createDecipheriv('aes-256-gcm', masterKey, sealed.subarray(0, ivBytes)).setAAD(
    Buffer.from(kid),
  );
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  try {
    const der = Buffer.concat([
      decipher.update(sealed.subarray(ivBytes, -tagBytes)),
      decipher.final(),
    ]);
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch (cause) {
    throw new Error(
      `The signing key ${kid} can not be opened: it was sealed under another master key.`,
      { cause },
    );
  }
};

/**
 * ES256 key pairs. The next key is published for a whole rotation before it signs; a retired one until
 * the last token that it signed has expired.
 */
export const createSigningKeys = ({
  database,
  masterKey,
  now,
  rotationMs,
  tokenMs,
}: SigningKeyOptions) => {
  let ring: KeyRing | undefined;
  let loading: Promise<KeyRing> | undefined;

  const addNext = async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const kid = uuidv7();
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' };
    await database.query(
      `INSERT INTO signing_keys (kid, state, public_jwk, sealed_private_key, created_at) VALUES ($1, 'next', $2, $3, $4)`,
      [kid, JSON.stringify(jwk), seal(kid, privateKey, masterKey), new Date(now())],
    );
  };

  const promoteNext = async () => {
    await database.query(
      `UPDATE signing_keys SET state = 'retired', published_until = $1 WHERE state = 'current'`,
      [new Date(now() + tokenMs + retirementGraceMs)],
    );
    await database.query(
      `UPDATE signing_keys SET state = 'current', current_since = $1 WHERE state = 'next'`,
      [new Date(now())],
    );
  };

  const isDue = (rows: KeyRow[]) => {
    const since = rows.find(({ state }) => state === 'current')?.current_since;
    return !since || since.getTime() + rotationMs <= now();
  };

  const published = () =>
    database.query<KeyRow>(
      `SELECT kid, state, public_jwk, sealed_private_key, current_since FROM signing_keys
        WHERE published_until IS NULL OR published_until > $1 ORDER BY created_at, kid`,
      [new Date(now())],
    );

  /** Exact among processes: whoever comes second finds nothing due. */
  const rotateIfDue = () =>
    database.transaction(async () => {
      await database.query('SELECT pg_advisory_xact_lock($1)', [rotationLock]);
      const rows = await published();
      if (!isDue(rows)) return rows;
      if (!rows.some(({ state }) => state === 'next')) await addNext();
      await promoteNext();
      await addNext();
      await database.query('DELETE FROM signing_keys WHERE published_until <= $1', [
        new Date(now()),
      ]);
      return published();
    });

  const load = async (): Promise<KeyRing> => {
    let rows = await published();
    if (isDue(rows)) rows = await rotateIfDue();
    const current = rows.find(({ state }) => state === 'current');
    if (!current) throw new Error('There is no current signing key.');
    return {
      loadedAt: now(),
      signer: {
        kid: current.kid,
        privateKey: unseal(current.kid, current.sealed_private_key, masterKey),
      },
      jwks: { keys: rows.map((row) => row.public_jwk) },
    };
  };

  /** Reads and rotates at most once a minute, whoever asks. */
  const currentRing = async (): Promise<KeyRing> => {
    if (ring && now() - ring.loadedAt < ringTtlMs) return ring;
    loading ??= database.detached(load).finally(() => {
      loading = undefined;
    });
    ring = await loading;
    return ring;
  };

  return {
    signer: async () => (await currentRing()).signer,
    jwks: async () => (await currentRing()).jwks,
  };
};

export type SigningKeys = ReturnType<typeof createSigningKeys>;
