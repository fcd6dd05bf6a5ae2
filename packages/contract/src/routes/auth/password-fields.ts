import { z } from 'zod';
import { text } from '../../schemas.ts';

/** Sign-in takes any length a password once had, bounded. */
export const anyPassword = z.string().max(1024, { abort: true });

/** In NFKC before every rule, as it is hashed: `ｐａｓｓｗｏｒｄ１` is `password1`. */
export const newPassword = text(8, 128, anyPassword.normalize('NFKC'));

/** One-time tokens of mails: 32 bytes in base64url. */
export const oneTimeToken = z.string().min(1).max(128);

/** Whoever follows a link shows by it that the account is theirs, and not a stranger's who has named their address. */
export const passwordOfClick = anyPassword
  .optional()
  .describe('Of the account, from who is not signed in to it: sessions then go on');
