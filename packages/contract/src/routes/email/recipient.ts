import { z } from 'zod';

/** RFC 5321 section 4.5.3.1, in octets. */
const maxLocalBytes = 64;

const maxAddressBytes = 254;

const utf8 = new TextEncoder();

export const countBytes = (value: string) => utf8.encode(value).length;

/** RFC 5322's dot-atom, with RFC 6531's letters of all scripts; no quoted strings, no comments. */
const localPart = /^[^\s\p{C}\p{Z}"(),.:;<>@[\\\]]+(\.[^\s\p{C}\p{Z}"(),.:;<>@[\\\]]+)*$/u;

const label = '[\\p{L}\\p{N}]([\\p{L}\\p{M}\\p{N}-]{0,61}[\\p{L}\\p{M}\\p{N}])?';

/** The last label has a letter: an address of the network is no domain. */
const domain = new RegExp(`^(${label}\\.)+(?=[^.]*\\p{L})${label}$`, 'u');

const isAddress = (value: string): boolean => {
  const at = value.lastIndexOf('@');
  const [local, host] = [value.slice(0, at), value.slice(at + 1)];
  return (
    at > 0 &&
    localPart.test(local) &&
    domain.test(host) &&
    countBytes(local) <= maxLocalBytes &&
    countBytes(value) <= maxAddressBytes
  );
};

/** One address of any script: no display name, no list, nothing that could end a header. */
export const recipient = z
  .string()
  .max(320, { abort: true })
  .trim()
  .normalize('NFC')
  .refine((value) => value.isWellFormed() && isAddress(value), 'must be an e-mail address');
