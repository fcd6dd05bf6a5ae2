import { z } from 'zod';
import type { Caller } from '../define-route.ts';

/** Who may make calls of a kind: each of these; with none of them nobody but the owner and keys. */
export const callerWords = z
  .array(
    z
      .string()
      .max(37, { abort: true })
      .regex(
        /^(anyone|users|role:[a-z0-9_-]{1,32})$/,
        'must be "anyone", "users" or "role:<name>", such as "role:member"',
      ),
  )
  .max(20);

/** Whether these words allow this visitor; owners, keys and the operator ask nobody. */
export const isAmong = (
  words: readonly string[],
  {
    kind,
    role = 'user',
    isGuest,
  }: { kind: Caller; role?: string | undefined; isGuest?: true | undefined },
): boolean =>
  words.includes('anyone') ||
  (kind === 'user' && ((words.includes('users') && !isGuest) || words.includes(`role:${role}`)));
