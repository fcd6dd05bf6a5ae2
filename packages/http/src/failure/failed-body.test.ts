import { randomBytes } from 'node:crypto';
import { ApiError, defineRoute, failureHeader } from '@backlot/contract';
import {
  asUser,
  createFindTestRoute,
  type ServiceUnderTest,
  serveForTest,
  testIdentityKeys,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { IdempotencyStore } from '../answer/idempotent.ts';
import { route } from '../route/route.ts';
import { serviceApp } from '../server/service-app.ts';
import { describeFailedBody, looksSecret, withoutSecrets, withoutValues } from './failed-body.ts';

const echo = defineRoute({
  operationId: 'echo',
  service: 'records',
  plane: 'runtime',
  method: 'POST',
  path: '/echo',
  summary: 'Echo',
  callers: ['user'],
  limit: 'write',
  body: z.looseObject({ title: z.string().max(20).optional() }),
  response: z.looseObject({}),
  unknownBody: 'ignored',
  status: 200,
  errors: [],
});

describe('what a log may know of a failing call', () => {
  it('are the names of fields, so many and so deep, and none that could be a secret', () => {
    const names = (body: unknown) => describeFailedBody(body, { message: '' }).fields;
    expect(
      names({ data: { title: 'x', items: [{ price: 1 }, { other: 2 }], deep: { a: { b: 1 } } } }),
    ).toEqual(['data', 'data.title', 'data.items', 'data.deep', 'data.deep.a']);
    expect(names({ list: [{ price: 1 }] })).toEqual(['list', 'list[].price']);
    const key = `bk_${randomBytes(32).toString('base64url')}`;
    const odd = { [key]: 1, 'ada@example.com': 1, ['x'.repeat(1_000_000)]: 1, '<img onerror>': 1 };
    expect(names(odd)).toEqual(['…']);
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`name${n}`, n]));
    expect(names(many).length).toBeLessThanOrEqual(50);
    for (const none of [null, undefined, 'text', 1, [], [[[[1]]]]]) expect(names(none)).toEqual([]);
  });

  it('are sentences without values of the body', () => {
    const body = { title: 'Ada Lovelace', n: 123456, list: [{ secret: 'hunter22' }], ok: 'tit' };
    const message = '"title": Ada Lovelace is no 123456, hunter22; title may have 1234567 letters.';
    expect(describeFailedBody(body, { message, hint: 'Send hunter22.' })).toMatchObject({
      error: '"title": … is no …, …; title may have 1234567 letters.',
      hint: 'Send ….',
    });
    const long = 'abcdefghijklmnop'.repeat(70_000);
    expect(withoutValues(`"${long.slice(0, 80)}" is too long.`, [long])).toBe('"…" is too long.');
    expect(describeFailedBody({ a: 'b' }, { message: 'No.' })).toEqual({ fields: ['a'] });
  });

  it('know tokens, keys and addresses by their form, and leave ids and words', () => {
    const secrets = [
      `bk_${randomBytes(32).toString('base64url')}`,
      'sk_live_51H8abcdefgh',
      `eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.${randomBytes(40).toString('base64url')}`,
      randomBytes(20).toString('hex'),
    ];
    for (const secret of secrets) {
      expect([secret, looksSecret(secret)]).toEqual([secret, true]);
      expect(withoutSecrets(`It is "${secret}".`)).toBe('It is "…".');
    }
    expect(withoutSecrets('Mail ada@example.com today.')).toBe('Mail … today.');
    const words = ['018f0000-0000-7000-8000-00000000cccc', 'notes', 'change-email-confirm'];
    for (const word of words) expect(withoutSecrets(word)).toBe(word);
  });

  describe('of a service', () => {
    let service: ServiceUnderTest;
    beforeAll(async () => {
      service = await serveForTest(
        serviceApp({
          routes: [
            route(echo, async ({ body }) => {
              if (body.fault) throw new Error(`internal ${body.title}`);
              throw new ApiError('conflict', `"${body.title}" is taken.`);
            }),
          ],
          gatewayKeys: testIdentityKeys('gateway'),
          now: Date.now,
          idempotency: {} as IdempotencyStore,
          checkResponses: true,
          log: { error() {} },
          ready: async () => ({ isServing: true, dependencies: [] }),
        }),
        Date.now,
        createFindTestRoute([echo]),
      );
    });
    afterAll(() => service.stop());
    const described = async (body: unknown) => {
      const identity = asUser('018f0000-0000-7000-8000-00000000bbbb');
      const { status, headers } = await service.call('POST', '/echo', { identity, body });
      const header = headers.get(failureHeader);
      return [
        status,
        header === null ? null : JSON.parse(Buffer.from(header, 'base64url').toString()),
      ];
    };

    it('is told to the gateway with a failure of the handler and of the form', async () => {
      expect(await described({ title: 'My secret', n: 1 })).toEqual([
        409,
        { fields: ['title', 'n'], error: '"…" is taken.' },
      ]);
      expect(await described({ title: 5 })).toEqual([400, { fields: ['title'] }]);
      expect(await described({ title: 'Hidden words', fault: true })).toEqual([
        500,
        { fields: ['title', 'fault'] },
      ]);
      expect(await described('{broken')).toEqual([400, null]);
    });
  });
});
