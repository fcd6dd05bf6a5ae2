import { z } from 'zod';
import { text } from '../../schemas.ts';

/** What an app calls a provider in paths: `google`, or what its owner has named one of its own. */
export const providerName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be 1-32 of a-z, 0-9 and -, starting with a letter')
  .refine(
    (name) => !['callback', 'token'].includes(name),
    'must not be "callback" or "token", which are paths',
  );

/** Shown on the button: "Sign in with <label>". */
export const providerLabel = z.string().describe('For the button: Google');

/** What a provider answers with: one-time, 32 bytes in base64url. */
export const oauthCode = z.string().min(1).max(128);

/** RFC 7636: the app makes it, and sends its SHA-256 as the challenge first. */
export const verifier = z
  .string()
  .regex(/^[A-Za-z0-9._~-]{43,128}$/, 'must be 43-128 of A-Z, a-z, 0-9, ".", "_", "~" and "-"');

export const challenge = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/, 'must be the SHA-256 of the verifier in base64url');

/** A page of an app. */
export const returnTo = text(1, 2048)
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), {
    message: 'must be an absolute http(s) address',
    abort: true,
  })
  .refine((value) => new URL(value).username === '' && new URL(value).password === '', {
    message: 'may not contain credentials',
  });
