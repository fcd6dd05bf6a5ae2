/**
 * Seals secrets that projects entrust to the platform (AES-256-GCM) under a master key that can be
 * rotated: put a new key first, and what was sealed under an older one still opens. Refuses to know
 * where keys come from and where sealed bytes are kept.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
} from 'node:crypto';
import { z } from 'zod';

export interface Sealer {
  /** @param context what the secret belongs to; it opens nowhere else */
  seal(secret: string, context: string): Buffer;
  /** @throws SealBroken where no key fits, or the bytes or the context are not those of `seal` */
  open(sealed: Buffer, context: string): string;
  /** False for what an older key sealed: seal it again. */
  isCurrent(sealed: Buffer): boolean;
  /** What is sealed begins with one of these, all of one length, or does not open. */
  keyNames: readonly Buffer[];
}

export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

const keyBytes = 32;
const nameBytes = 8;
const ivBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM: a random nonce of 12 bytes, the ciphertext, a tag of 16.
 * @param key 32 bytes
 * @param context what the secret belongs to; it opens nowhere else
 */
export const sealUnder = (key: Uint8Array, secret: string | Uint8Array, context = ''): Buffer => {
  const iv = randomBytes(ivBytes);
  // Given bytes in place of an object, `createCipheriv` takes several times as long.
  const cipher = createCipheriv('aes-256-gcm', createSecretKey(key), iv).setAAD(
    Buffer.from(context),
  );
  return Buffer.concat([
    iv,
    cipher.update(Buffer.from(secret)),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
};

/** @throws SealBroken where key, bytes or context are not those of `sealUnder` */
export const openUnder = (key: Uint8Array, sealed: Buffer, context = ''): Buffer => {
  try {
    const decipher = createDecipheriv(
      'aes-256-gcm',
      createSecretKey(key),
      sealed.subarray(0, ivBytes),
      { authTagLength: tagBytes },
    );
    decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-tagBytes));
    return Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()]);
  } catch (cause) {
    throw new SealBroken('The seal is broken.', { cause });
  }
};

const masterKey = z
  .base64()
  .transform((value) => Buffer.from(value, 'base64'))
  .refine((key) => key.length === keyBytes, `must be ${keyBytes} bytes in base64`);

/** A setting: master keys in base64, separated by commas; the first one seals, all of them open. */
export const masterKeysSetting = z
  .string()
  .transform((value) => value.split(',').map((key) => key.trim()))
  .pipe(z.array(masterKey).min(1).max(10));

/** Says which key sealed, and nothing else about it. */
const keyName = (key: Buffer) =>
  createHash('sha256').update('name of a master key').update(key).digest().subarray(0, nameBytes);

/** @param keys 32 bytes each, the current one first */
export const createSealer = (keys: readonly Buffer[]): Sealer => {
  const ring = keys.map((key) => ({ key, name: keyName(key) }));
  const [current] = ring;
  if (!current || keys.some((key) => key.length !== keyBytes)) {
    throw new RangeError(`A sealer needs master keys of ${keyBytes} bytes.`);
  }
  return {
    seal: (secret, context) =>
      Buffer.concat([current.name, sealUnder(current.key, secret, context)]),
    open(sealed, context) {
      const known = ring.find(({ name }) => name.equals(sealed.subarray(0, nameBytes)));
      if (!known) throw new SealBroken('It was sealed under another master key.');
      return openUnder(known.key, sealed.subarray(nameBytes), context).toString('utf8');
    },
    isCurrent: (sealed) => current.name.equals(sealed.subarray(0, nameBytes)),
    keyNames: ring.map(({ name }) => name),
  };
};
