import { describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import { signUp, updateMe, updateUser } from './routes/auth/index.ts';
import { createGroup, updateGroup } from './routes/groups/groups.ts';
import { createCheckout } from './routes/payments/create-checkout.ts';
import { createKey, createProject, updateProject } from './routes/projects/index.ts';

const account = { email: 'ada@example.org', password: 'correct horse' };
const checkout = { currency: 'usd', returnUrl: 'https://example.org/' };
const bodies: [string, z.ZodType, (name: string) => unknown][] = [
  ['createProject', createProject.body, (name) => ({ name })],
  ['updateProject', updateProject.body, (name) => ({ name })],
  ['createKey', createKey.body, (name) => ({ name })],
  ['signUp', signUp.body, (name) => ({ ...account, name })],
  ['updateMe', updateMe.body, (name) => ({ name })],
  ['updateUser', updateUser.body, (name) => ({ name })],
  ['createGroup', createGroup.body, (name) => ({ name })],
  ['updateGroup', updateGroup.body, (name) => ({ name })],
  [
    'createCheckout',
    createCheckout.body,
    (name) => ({ ...checkout, items: [{ name, amount: 1 }] }),
  ],
];

const blank = [
  '',
  '   ',
  '\u00A0',
  '\u3000',
  '\u3164',
  '\u115F\u1160',
  '\uFFA0',
  '\u2800',
  '\u200B',
  '\u2060\u200D',
  '\uFEFF',
  '\u00AD',
  '\uFE0F',
  '\u0301',
  '\u{E0041}',
  ' \u3164 \u200C ',
];

describe.each(bodies)('a name in the body of %s', (_operation, body, withName) => {
  it.each(['Ada', 'Zoë O’Neil', 'عائشة', 'नी‍ना', '👩‍👩‍👧 shop'])('may be %j', (name) => {
    expect(body.safeParse(withName(name)).success).toBe(true);
  });

  it.each(blank)('may not show nothing, as %j does', (name) => {
    const issue = body.safeParse(withName(name)).error?.issues[0];
    expect(issue?.path.at(-1)).toBe('name');
  });

  it.each(['a\rb', 'a\nb', 'a\tb', 'a\u0085b', 'a\u2028b', 'a\u202Eb', 'a\u2067b', 'a\u200Eb'])(
    'may not be %j',
    (name) => {
      const issue = body.safeParse(withName(name)).error?.issues[0];
      expect(issue?.path.at(-1)).toBe('name');
    },
  );
});

it('names of users, groups, projects and keys are kept without the spaces around them', () => {
  const name = ' \u3000Ada L. ';
  for (const body of [createGroup.body, createProject.body, createKey.body])
    expect(body.parse({ name }).name).toBe('Ada L.');
  expect(signUp.body.parse({ ...account, name }).name).toBe('Ada L.');
});
