/**
 * Seals secrets that projects entrust to the platform (AES-256-GCM) under a master key that can be
 * rotated: put a new key first, and what was sealed under an older one still opens. Refuses to know
 * where keys come from and where sealed bytes are kept.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';

export interface Sealer {
  /** @param context what the secret belongs to; it opens nowhere else */
  seal(secret: string, context: string): Buffer;
  /** @throws SealBroken where no key fits, or the bytes or the context are not those of `seal` */
  open(sealed: Buffer, context: string): string;
  /** False for what an older key sealed: seal it again. */
  isCurrent(sealed: Buffer): boolean;
}

export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

const keyBytes = 32;
const nameBytes = 8;
const ivBytes = 12;
const tagBytes = 16;

const masterKey = z
  .base64()
  .transform((value) => Buffer.from(value, 'base64'))
  .refine((key) => key.length === keyBytes, `must be ${keyBytes} bytes in base64`);

/** A setting: master keys in base64, separated by commas; the first one seals, all of them open. */
export const masterKeysSetting = z
  .string()
  .transform((value) => value.split(',').map((each) => each.trim()))
  .pipe(z.array(masterKey).min(1).max(10));

/** Says which key sealed, and nothing else about it. */
const nameOf = (key: Buffer) =>
  createHash('sha256').update('name of a master key').update(key).digest().subarray(0, nameBytes);

/** @param keys 32 bytes each, the current one first */
export const createSealer = (keys: readonly Buffer[]): Sealer => {
  const ring = keys.map((key) => ({ key, name: nameOf(key) }));
  const [current] = ring;
  if (!current || keys.some((key) => key.length !== keyBytes)) {
    throw new RangeError(`A sealer needs master keys of ${keyBytes} bytes.`);
  }
  return {
    seal(secret, context) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', current.key, iv).setAAD(Buffer.from(context));
      const sealed = cipher.update(secret, 'utf8');
      return Buffer.concat([current.name, iv, sealed, cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, context) {
      const known = ring.find(({ name }) => name.equals(sealed.subarray(0, nameBytes)));
      if (!known) throw new SealBroken('It was sealed under a master key that is not given.');
      try {
        const iv = sealed.subarray(nameBytes, nameBytes + ivBytes);
        const decipher = createDecipheriv('aes-256-gcm', known.key, iv, {
          authTagLength: tagBytes,
        });
        decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-tagBytes));
        const text = decipher.update(sealed.subarray(nameBytes + ivBytes, -tagBytes));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new SealBroken('The seal is broken.', { cause });
      }
    },
    isCurrent: (sealed) => current.name.equals(sealed.subarray(0, nameBytes)),
  };
};
