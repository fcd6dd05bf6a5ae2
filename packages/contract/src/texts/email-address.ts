import { z } from 'zod';

/** What no domain holds, and an address of the web would take for something else. */
const isNoDomain = /[\p{Cc}\s/\\?#@:%[\]<>^|]/u;

/**
 * As DNS has the domain: `bücher.example`, `BÜCHER.example` and `xn--bcher-kva.example` are one. What is
 * none stays as it is.
 */
const toAsciiDomain = (domain: string): string => {
  if (domain === '' || isNoDomain.test(domain)) return domain;
  const url = `http://${domain}`;
  if (!URL.canParse(url)) return domain;
  const { hostname } = new URL(url);
  // Numbers have become an IPv4 address.
  return /[a-z][^.]*$/.test(hostname) ? hostname : domain;
};

/** K (U+212A) and İ have ASCII in lower case, and are of other mailboxes. */
const toLowerCase = (letter: string): string => {
  const lower = letter.toLowerCase();
  return letter > '\x7f' && /[a-z]/.test(lower) ? letter : lower;
};

/**
 * The one spelling of an e-mail address: trimmed, in lower case, its domain in ASCII. Wherever an address
 * is stored or looked up it has this form. What can't be an address (PostgreSQL refuses NUL) becomes '',
 * which nobody has.
 */
export const normalizeEmail = (address: string): string => {
  if (address.includes('\0')) return '';
  const plain = address.trim().replace(/\p{Lu}/gu, toLowerCase);
  const at = plain.lastIndexOf('@') + 1;
  return at === 0 ? plain : plain.slice(0, at) + toAsciiDomain(plain.slice(at));
};

/** The pattern of `z.email`, with top domains such as `xn--p1ai` too. */
const pattern =
  /^(?:[A-Za-z0-9_'+-]+\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+(?:[A-Za-z]{2,}|xn--[A-Za-z0-9-]*[A-Za-z0-9])$/;

/** docs/api.md, "Accounts". 254 is RFC 5321's longest address. */
export const email = z
  .string()
  .max(320, { abort: true })
  .overwrite(normalizeEmail)
  .pipe(z.email({ pattern }).max(254));
