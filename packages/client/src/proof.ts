/** Solves what a busy network address is asked for (an ALTCHA challenge); loaded when a call is answered so. */
import type { Challenge } from './error.ts';

/** Some 256 are needed where every key has to begin with a zero byte. */
const mostTries = 100_000;

const toBytes = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
const toHex = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** The header `Backlot-Proof`. Needs `crypto.subtle`, which browsers have on https and localhost. */
export const solve = async (
  { parameters, signature }: Challenge,
  signal?: AbortSignal,
): Promise<string> => {
  const { subtle } = crypto;
  const nonce = toBytes(parameters.nonce);
  const password = new Uint8Array(nonce.length + 4);
  password.set(nonce);
  const view = new DataView(password.buffer);
  const way = {
    name: 'PBKDF2',
    hash: 'SHA-256',
    salt: toBytes(parameters.salt),
    iterations: parameters.cost,
  };
  for (let counter = 0; counter < mostTries; counter++) {
    signal?.throwIfAborted();
    view.setUint32(nonce.length, counter);
    const key = await subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits']);
    const derivedKey = toHex(await subtle.deriveBits(way, key, parameters.keyLength * 8));
    if (!derivedKey.startsWith(parameters.keyPrefix)) continue;
    const solution = { counter, derivedKey };
    return btoa(JSON.stringify({ challenge: { parameters, signature }, solution }));
  }
  throw new RangeError('The challenge has no solution.');
};
