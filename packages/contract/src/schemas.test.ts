import { describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import { signUp, updateMe, updateUser } from './routes/auth.ts';
import { createCheckout } from './routes/payments/payments.ts';
import { createKey, createProject, updateProject } from './routes/projects.ts';

const account = { email: 'ada@example.org', password: 'correct horse' };
const checkout = { currency: 'usd', returnUrl: 'https://example.org/' };
const bodies: [string, z.ZodType, (name: string) => unknown][] = [
  ['createProject', createProject.body, (name) => ({ name })],
  ['updateProject', updateProject.body, (name) => ({ name })],
  ['createKey', createKey.body, (name) => ({ name })],
  ['signUp', signUp.body, (name) => ({ ...account, name })],
  ['updateMe', updateMe.body, (name) => ({ name })],
  ['updateUser', updateUser.body, (name) => ({ name })],
  [
    'createCheckout',
    createCheckout.body,
    (name) => ({ ...checkout, items: [{ name, amount: 1 }] }),
  ],
];

describe.each(bodies)('a name in the body of %s', (_operation, body, withName) => {
  it.each(['Ada', 'Zoë O’Neil', 'عائشة', 'नी‍ना', '👩‍👩‍👧 shop'])('may be %j', (name) => {
    expect(body.safeParse(withName(name)).success).toBe(true);
  });

  it.each(['a\rb', 'a\nb', 'a\tb', 'a\u0085b', 'a\u2028b', 'a\u202Eb', 'a\u2067b', 'a\u200Eb'])(
    'may not be %j',
    (name) => {
      const issue = body.safeParse(withName(name)).error?.issues[0];
      expect(issue?.path.at(-1)).toBe('name');
    },
  );
});
