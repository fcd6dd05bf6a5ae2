import { randomBytes } from 'node:crypto';
import { defineRoute } from '@backlot/contract';
import {
  anonymous,
  createFindTestRoute,
  type ServiceUnderTest,
  serveForTest,
  testIdentityKeys,
} from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { InTurn } from '../route/mounted-route.ts';
import { route } from '../route/route.ts';
import { serviceApp } from '../server/service-app.ts';

const takesText = {
  service: 'records',
  plane: 'runtime',
  method: 'POST',
  callers: ['anonymous'],
  limit: 'write',
  body: z.object({ text: z.string() }),
  response: z.object({ length: z.number() }),
  status: 200,
  errors: [],
} as const;
const store = defineRoute({
  ...takesText,
  operationId: 'store',
  path: '/store',
  summary: 'Store',
});
const write = defineRoute({
  ...takesText,
  operationId: 'write',
  path: '/write',
  summary: 'Write',
});
const ask = defineRoute({ ...takesText, operationId: 'ask', path: '/ask', summary: 'Ask' });

const notUnderTest = () => Promise.reject(new Error('not under test'));
const text = (bytes: number) => ({ text: randomBytes(bytes / 2).toString('hex') });

describe('a large body', () => {
  let service: ServiceUnderTest;
  let log: string[];
  const inTurn: InTurn = async (_caller, work) => {
    log.push('turn');
    setImmediate(() => log.push('others'));
    await work();
    log.push('turn over');
  };

  const inShortTurn: InTurn = async (_caller, work) => {
    log.push('short turn');
    await work();
    log.push('short turn over');
  };

  beforeAll(async () => {
    const handler =
      (name: string) =>
      async ({ body }: { body: { text: string } }) => {
        log.push(name);
        return { body: { length: body.text.length } };
      };
    service = await serveForTest(
      serviceApp({
        routes: [
          route(store, handler('store')),
          route(write, handler('write'), { inTurn: inShortTurn, hasShortTurns: true }),
          route(ask, handler('ask'), { isSlow: true, largeBodyBytes: 4096 }),
        ],
        gatewayKeys: testIdentityKeys('gateway'),
        ready: async () => ({ isServing: true, dependencies: [] }),
        idempotency: { run: notUnderTest, runInOne: notUnderTest, runSlow: notUnderTest },
        now: Date.now,
        log: { error: () => {} },
        checkResponses: true,
        inTurnForLargeBody: inTurn,
      }),
      Date.now,
      createFindTestRoute([store, write, ask]),
    );
  });
  beforeEach(() => {
    log = [];
  });
  afterAll(() => service.stop());

  const post = async (path: string, body: unknown) =>
    (await service.call('POST', path, { identity: anonymous(), body })).status;

  it('is worked on in its caller’s turn, a small one at once', async () => {
    expect(await post('/store', text(1000))).toBe(200);
    expect(log).toEqual(['store']);
    expect(await post('/store', text(100_000))).toBe(200);
    expect(log).toEqual(['store', 'turn', 'store', 'turn over', 'others']);
  });

  it('keeps its turn while it has a short one too', async () => {
    expect(await post('/write', text(100_000))).toBe(200);
    expect(log).toEqual(['turn', 'short turn', 'write', 'short turn over', 'turn over', 'others']);
  });

  it('holds nobody else up while a route waits for another server', async () => {
    expect(await post('/ask', text(4000))).toBe(200);
    expect(log).toEqual(['ask']);
    expect(await post('/ask', text(5000))).toBe(200);
    expect(log).toEqual(['ask', 'turn', 'others', 'turn over', 'ask']);
  });

  it('is refused in its turn where it is wrong', async () => {
    expect(await post('/store', `{"text":"${'x'.repeat(100_000)}`)).toBe(400);
    expect(await post('/ask', { ...text(100_000), text: 1, more: text(100_000) })).toBe(400);
    expect(log).toEqual(['turn', 'others', 'turn', 'others']);
  });
});
