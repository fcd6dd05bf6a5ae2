import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { ApiError, type Jwks, type SealedUnder } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { Finding } from '@backlot/http';
import { createSealer, openUnder, SealBroken, sealUnder } from '@backlot/sealing';
import type { SealStore } from '@backlot/service';
import type { Logger } from '@backlot/telemetry';
import { uuidv7 } from 'uuidv7';
import type { AuthConfig } from '../config.ts';
import type { SigningKey, DB as Tables } from '../tables.ts';

const keyColumns = [
  'kid',
  'state',
  'public_jwk',
  'sealed_private_key',
  'current_since',
  'confirmed_at',
] as const;
type KeyRow = Pick<SigningKey, (typeof keyColumns)[number]>;
type SealedKey = Pick<KeyRow, 'kid' | 'sealed_private_key'>;

interface Signer {
  kid: string;
  privateKey: KeyObject;
}

interface KeyRing {
  loadedAt: number;
  /** None while other processes sign under another master key. */
  signer: Signer | undefined;
  jwks: Jwks;
}

interface SigningKeyOptions {
  database: Database;
  now: () => number;
  log: Logger;
  config: Pick<AuthConfig, 'masterKeys' | 'keyRotationMs' | 'sessionMs'>;
}

/** How long a process goes on with what it has read; a rotation elsewhere is seen after this. */
const ringTtlMs = 60_000;
/** Added to a retired key's publication: processes that have not yet seen the rotation still sign with it. */
const retirementGraceMs = 3_600_000;
/** Each process that signs confirms the key when it reads it; after so long without that it has no user. */
const confirmationMs = 5 * 60_000;
/** Any fixed number: rotations anywhere wait for each other. */
const rotationLock = 7_041_876;

const seal = (kid: string, key: KeyObject, masterKey: Buffer): Buffer =>
  sealUnder(masterKey, key.export({ type: 'pkcs8', format: 'der' }), kid);

/** Undefined for what was sealed under another master key. */
const unsealUnder = (
  { kid, sealed_private_key: sealed }: SealedKey,
  masterKey: Buffer,
): KeyObject | undefined => {
  try {
    const der = openUnder(masterKey, sealed, kid);
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
};

const unseal = (row: SealedKey, masterKeys: readonly Buffer[]): KeyObject | undefined => {
  for (const masterKey of masterKeys) {
    const key = unsealUnder(row, masterKey);
    if (key) return key;
  }
  return undefined;
};

const findCurrent = (rows: KeyRow[]) => rows.find(({ state }) => state === 'current');

/**
 * ES256 key pairs. The next key is published for a whole rotation before it signs; a retired one until
 * the last token that it signed has expired.
 *
 * Keys that a process can't open are withdrawn and replaced, if its master key is new here or if no
 * process that can open them has run lately. So of two master keys in use at once the newer one wins,
 * once, and an older one that is restored takes over when the other is gone.
 */
export const createSigningKeys = ({ database, now, log, config }: SigningKeyOptions) => {
  const { masterKeys, keyRotationMs } = config;
  const [masterKey] = masterKeys;
  if (!masterKey) throw new RangeError('Signing keys need a master key.');
  const { keyNames } = createSealer(masterKeys);
  const queries = createQueries<Tables>(database);
  let ring: KeyRing | undefined;
  let loading: Promise<KeyRing> | undefined;

  const canOpen = (row: SealedKey) => unseal(row, masterKeys) !== undefined;

  const published = () =>
    queries
      .selectFrom('signing_keys')
      .select(keyColumns)
      .where(({ eb, or }) =>
        or([eb('published_until', 'is', null), eb('published_until', '>', new Date(now()))]),
      )
      .orderBy('created_at')
      .orderBy('kid')
      .execute();

  const isDue = (rows: KeyRow[]) => {
    const since = findCurrent(rows)?.current_since;
    return !since || since.getTime() + keyRotationMs <= now();
  };

  const addNext = async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const kid = uuidv7();
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' };
    await queries
      .insertInto('signing_keys')
      .values({
        kid,
        state: 'next',
        public_jwk: JSON.stringify(jwk),
        sealed_private_key: seal(kid, privateKey, masterKey),
        created_at: new Date(now()),
      })
      .execute();
  };

  const promoteNext = async () => {
    await queries
      .updateTable('signing_keys')
      .set({
        state: 'retired',
        published_until: new Date(now() + config.sessionMs + retirementGraceMs),
      })
      .where('state', '=', 'current')
      .execute();
    const at = new Date(now());
    await queries
      .updateTable('signing_keys')
      .set({ state: 'current', current_since: at, confirmed_at: at })
      .where('state', '=', 'next')
      .execute();
  };

  /** A key withdrawn stays in the table for a rotation: it shows that its master key is not new. */
  const rotate = async (rows: KeyRow[]) => {
    if (!rows.some(({ state }) => state === 'next')) await addNext();
    await promoteNext();
    await addNext();
    await queries
      .deleteFrom('signing_keys')
      .where('published_until', '<=', new Date(now() - keyRotationMs))
      .execute();
  };

  const isNewMasterKey = async () => {
    const rows = await queries
      .selectFrom('signing_keys')
      .select(['kid', 'sealed_private_key'])
      .execute();
    return !rows.some(canOpen);
  };

  const mayReplace = async (rows: KeyRow[]) => {
    const current = findCurrent(rows);
    if (!current || canOpen(current)) return true;
    const confirmedAt = current.confirmed_at?.getTime() ?? 0;
    return confirmedAt + confirmationMs <= now() || isNewMasterKey();
  };

  const withdraw = async (rows: KeyRow[]) => {
    const kids = rows.map(({ kid }) => kid);
    await queries
      .updateTable('signing_keys')
      .set({ state: 'retired', published_until: new Date(now()) })
      .where('kid', 'in', kids)
      .execute();
    database.afterCommit(() =>
      log.warn(
        { kids },
        'signing keys do not open under BACKLOT_AUTH_MASTER_KEY; replaced them, and everybody has to sign in again',
      ),
    );
  };

  /** Exact among processes: whoever comes second finds nothing to do. */
  const renew = () =>
    database.transaction(async () => {
      await database.query('SELECT pg_advisory_xact_lock($1)', [rotationLock]);
      const rows = await published();
      const unreadable = rows.filter((row) => !canOpen(row));
      if (unreadable.length > 0) {
        if (!(await mayReplace(rows))) return rows;
        await withdraw(unreadable);
      }
      const readable = rows.filter(canOpen);
      if (isDue(readable)) await rotate(readable);
      return published();
    });

  const openCurrent = (rows: KeyRow[]): Signer | undefined => {
    const current = findCurrent(rows);
    const privateKey = current && unseal(current, masterKeys);
    return privateKey && { kid: current.kid, privateKey };
  };

  const load = async (): Promise<KeyRing> => {
    let rows = await published();
    let signer = openCurrent(rows);
    if (!signer || isDue(rows)) {
      rows = await renew();
      signer = openCurrent(rows);
    }
    if (signer) {
      await queries
        .updateTable('signing_keys')
        .set({ confirmed_at: new Date(now()) })
        .where('kid', '=', signer.kid)
        .execute();
    } else if (!ring || ring.signer) {
      log.error(
        'other processes sign tokens under another BACKLOT_AUTH_MASTER_KEY; sign-ins are answered with 503 here',
      );
    }
    const keys = rows.map((row) => row.public_jwk as Jwks['keys'][number]);
    return { loadedAt: now(), signer, jwks: { keys } };
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

  /** What older master keys sealed; what is not published any more opens nothing. */
  const sealedBefore = async () => {
    const rows = await published();
    return rows.filter((row) => !unsealUnder(row, masterKey));
  };

  const seals: SealStore = {
    async count() {
      const rows = await published();
      const openers = rows.map((row) => masterKeys.findIndex((key) => unsealUnder(row, key)));
      const sealedUnder = (index: number) => openers.filter((opener) => opener === index).length;
      const setting = 'BACKLOT_AUTH_MASTER_KEY';
      const ring = keyNames.map((name, at) => ({
        setting,
        keyId: name.toString('hex'),
        state: at === 0 ? 'current' : 'old',
        sealed: sealedUnder(at),
      })) satisfies SealedUnder[];
      const lost = sealedUnder(-1);
      return lost === 0 ? ring : [...ring, { setting, keyId: null, state: 'lost', sealed: lost }];
    },
    async reseal(limit) {
      let done = 0;
      for (const row of (await sealedBefore()).slice(0, limit)) {
        const key = unseal(row, masterKeys);
        if (!key) continue;
        const { numUpdatedRows } = await queries
          .updateTable('signing_keys')
          .set({ sealed_private_key: seal(row.kid, key, masterKey) })
          .where('kid', '=', row.kid)
          .where('sealed_private_key', '=', row.sealed_private_key)
          .executeTakeFirst();
        done += Number(numUpdatedRows);
      }
      return done;
    },
  };

  return {
    seals,
    /** @throws ApiError unavailable */
    async signer(): Promise<Signer> {
      const { signer } = await currentRing();
      if (!signer)
        throw new ApiError('unavailable', 'Nobody can be signed in right now. Try again shortly.', {
          retryAfterSeconds: 5,
        });
      return signer;
    },
    jwks: async () => (await currentRing()).jwks,
    /** Missing where other processes sign under another master key: then nobody is signed in here. */
    async find(): Promise<Finding> {
      const { signer } = await currentRing();
      if (signer) return { name: 'signing_keys', state: 'works' };
      return { name: 'signing_keys', state: 'missing', reason: 'other_master_key' };
    },
  };
};

export type SigningKeys = ReturnType<typeof createSigningKeys>;
