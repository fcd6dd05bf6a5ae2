import {
  createHash,
  createSign,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

type Cbor = number | string | Buffer | Map<number | string, Cbor>;

const head = (major: number, value: number): Buffer => {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255]);
};

/** As much of CBOR as authenticators write. */
const cbor = (value: Cbor): Buffer => {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const entries = [...value].flatMap(([key, entry]) => [cbor(key), cbor(entry)]);
  return Buffer.concat([head(5, value.size), ...entries]);
};

/** @param padding bytes that a reader passes over */
const coseKey = (key: KeyObject, padding: number): Buffer => {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return cbor(
    new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
      ...(padding > 0 ? [[-700, Buffer.alloc(padding)] as const] : []),
    ]),
  );
};

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();

/** What a test has it do otherwise. */
export interface Ceremony {
  origin?: string;
  host?: string;
  isUserVerified?: boolean;
  crossOrigin?: boolean;
  /** Of the signature; the next one unless stated. */
  counter?: number;
  userHandle?: string;
  attestation?: { format: string; statement: Map<string, Cbor> };
}

interface RegistrationOptions {
  challenge: string;
  rp: { id: string };
  user: { id: string };
}

/** A passkey of a device, in software. @param isCounting whether it counts its signatures, as few do */
export const createAuthenticator = (
  origin = 'http://localhost:8080',
  { isCounting = false, idBytes = 16, keyPadding = 0 } = {},
) => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(idBytes);
  const id = credentialId.toString('base64url');
  let userHandle = '';
  let signatures = 0;

  const clientData = (type: string, challenge: string, changes: Ceremony) =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge,
        origin: changes.origin ?? origin,
        crossOrigin: changes.crossOrigin ?? false,
      }),
    );
  const authenticatorData = (host: string, changes: Ceremony, attested?: Buffer) => {
    const flags = 1 | (changes.isUserVerified === false ? 0 : 4) | (attested ? 64 : 0);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(changes.counter ?? (isCounting ? ++signatures : 0));
    const parts = [sha256(changes.host ?? host), Buffer.from([flags]), counter];
    return Buffer.concat(attested ? [...parts, attested] : parts);
  };

  return {
    id,
    create({ challenge, rp, user }: RegistrationOptions, changes: Ceremony = {}) {
      userHandle = user.id;
      const length = Buffer.from([credentialId.length >> 8, credentialId.length & 255]);
      const attested = Buffer.concat([
        Buffer.alloc(16),
        length,
        credentialId,
        coseKey(publicKey, keyPadding),
      ]);
      const { format = 'none', statement = new Map() } = changes.attestation ?? {};
      const attestationObject = cbor(
        new Map<string, Cbor>([
          ['fmt', format],
          ['attStmt', statement],
          ['authData', authenticatorData(rp.id, changes, attested)],
        ]),
      );
      return {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData('webauthn.create', challenge, changes).toString('base64url'),
          attestationObject: attestationObject.toString('base64url'),
          transports: ['internal'],
        },
      };
    },
    get({ challenge, rpId }: { challenge: string; rpId: string }, changes: Ceremony = {}) {
      const data = authenticatorData(rpId, changes);
      const client = clientData('webauthn.get', challenge, changes);
      const signed = Buffer.concat([data, sha256(client)]);
      const signature = createSign('sha256').update(signed).sign(privateKey);
      return {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle: changes.userHandle ?? userHandle,
        },
      };
    },
  };
};

export type Authenticator = ReturnType<typeof createAuthenticator>;
