import {
  aiRoutes,
  authRoutes,
  emailRoutes,
  paymentRoutes,
  type RouteDefinition,
  recordRoutes,
  routes,
  storageRoutes,
} from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import { validate } from '../call/call.ts';

const refusal = (schema: RouteDefinition['body'], value: unknown): string => {
  try {
    validate(schema, value, 'invalid_body');
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It was accepted.');
};

describe('what is wrong with a field', () => {
  const checkout = { items: [{ name: 'x', amount: 1 }], returnUrl: 'https://example.org' };
  it.each<[RouteDefinition, unknown, string]>([
    [
      authRoutes.signUp,
      { email: 'a@example.org', password: 'abc' },
      '"password" needs at least 8 characters',
    ],
    [authRoutes.signUp, { password: 'abcdefgh' }, '"email" is missing'],
    [authRoutes.signUp, { email: 'ada', password: 'x' }, '"email" must be an e-mail address'],
    [authRoutes.signUp, { email: 5, password: 'x' }, '"email" must be a string'],
    [
      authRoutes.signUp,
      { email: 'a@example.org', password: 'abcdefgh', name: 'x'.repeat(101) },
      '"name" may have at most 100 characters',
    ],
    [
      authRoutes.signUp,
      'a@example.org',
      'The body must be an object with "email", "password" and perhaps "name"',
    ],
    [authRoutes.updateMe, [], 'an object with any of "name", "avatar", "profile"'],
    [
      authRoutes.signIn,
      undefined,
      'Send a JSON body: an object with "email", "password" and perhaps "deviceToken", "merge".',
    ],
    [
      aiRoutes.generateText,
      { messages: ['Hello'] },
      '"messages.0" must be an object such as {"role": "user", "content": "Hello"}',
    ],
    [authRoutes.verifyEmail, { token: '' }, '"token" must not be empty'],
    [authRoutes.signOut, { all: 'yes' }, '"all" must be true or false'],
    [
      paymentRoutes.createCheckout,
      { ...checkout, items: [{ name: 'x', amount: 12.5 }] },
      '"items.0.amount" is in cents: a whole number, such as 1999',
    ],
    [
      paymentRoutes.createCheckout,
      { ...checkout, items: [{ name: 'x', amount: '12' }] },
      '"items.0.amount" is in cents: a whole number, such as 1999',
    ],
    [
      paymentRoutes.createCheckout,
      { ...checkout, items: [{ name: 'x', amount: -1 }] },
      '"items.0.amount" must be 0 or more',
    ],
    [paymentRoutes.createCheckout, { ...checkout, items: {} }, '"items" must be a list'],
    [paymentRoutes.createCheckout, { ...checkout, items: [] }, '"items" needs at least 1 item'],
    [
      paymentRoutes.createCheckout,
      { ...checkout, metadata: { a: {} } },
      '"metadata.a" must be a string or a number or true or false',
    ],
    [emailRoutes.sendEmail, { to: 'x', subject: 'x', html: 'x' }, '"to" must be an e-mail address'],
    [
      recordRoutes.setCollectionAccess,
      { access: 'public' },
      '"access" must be one of shared, public-read',
    ],
    [recordRoutes.createRecord, { data: 'x' }, '"data" must be an object, as in'],
    [recordRoutes.createRecord, { data: [] }, '"data" must be one object; many go to'],
    [recordRoutes.updateRecord, {}, 'The body needs "data", "unset" or "inc"'],
    [storageRoutes.signFile, { expiresIn: 1e9 }, '"expiresIn" must be 604800 or less'],
  ])('in $operationId is said in our words', ({ body }, value, message) => {
    expect(refusal(body, value)).toContain(message);
  });

  it('is never said in those of the library', () => {
    const messages = new Set<string>();
    const values = ['x', 1, null, [], {}, true, undefined];
    for (const { body, query } of routes as readonly RouteDefinition[]) {
      for (const schema of [body, query]) {
        const names = schema && 'shape' in schema ? Object.keys(schema.shape as object) : [];
        const inputs = [...values, ...names.flatMap((n) => values.map((v) => ({ [n]: v })))];
        for (const input of inputs) {
          try {
            validate(schema, input, 'invalid_body');
          } catch (error) {
            messages.add((error as Error).message);
          }
        }
      }
    }
    for (const message of messages)
      expect(message).not.toMatch(/Invalid|expected|received|Too (small|big)|Unrecognized/);
    expect(messages.size).toBeGreaterThan(50);
  });
});
