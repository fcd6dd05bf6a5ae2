import { recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { anonymous, createServiceBed, type ServiceBed, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineConfig, defineService, type ServiceContext } from './index.ts';

interface HoldingContext extends ServiceContext<object> {
  /** A call has its connection, and keeps it until this resolves. */
  hold(ownerId: string | null): Promise<void>;
}

const holding = defineService({
  name: 'records',
  migrations: new URL('./testing/migrations/', import.meta.url),
  config: defineConfig(z.object({}), () => ({})),
  build: ({ database, hold }: HoldingContext) => ({
    routes: [
      route(recordRoutes.deleteRecord, async ({ identity }) => {
        await database.transaction(() => hold(identity.project.ownerId));
        return { body: { ok: true as const } };
      }),
    ],
  }),
});

let bed: ServiceBed<object>;
const begun: (string | null)[] = [];
const held: (() => void)[] = [];
beforeAll(async () => {
  const hold = (ownerId: string | null) => {
    begun.push(ownerId);
    return new Promise<void>((resolve) => held.push(resolve));
  };
  bed = await createServiceBed(holding, { config: {}, hold });
});
afterAll(() => bed.close());

const call = (ownerId: string, ip: string) =>
  bed.call('DELETE', '/db/notes/018f0000-0000-7000-8000-000000000001', {
    identity: anonymous({ ip, project: { ...testProject, ownerId } }),
  });
const waiting = async () =>
  /backlot_queue_waiting\{queue="connections",lane="slow"\} (\d+)/.exec(
    await bed.registry.metrics(),
  )?.[1];

it('a stranger has the next connection, whatever 20 accounts on one address wait for', async () => {
  const calls = Array.from({ length: 100 }, (_, n) => call(`owner ${n % 20}`, '203.0.113.1'));
  await until(async () => held.length === 8 && (await waiting()) === '92');
  calls.push(call('stranger', '198.51.100.1'));
  await until(async () => (await waiting()) === '93');
  held.shift()?.();
  await until(() => begun.length === 9);
  expect(begun.at(-1)).toBe('stranger');
  const releasing = setInterval(() => held.shift()?.(), 1);
  expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200]));
  clearInterval(releasing);
});

it('is waited for no longer than three seconds', async () => {
  const calls = Array.from({ length: 7 }, () => call('owner', '203.0.113.1'));
  const first = await Promise.race(calls.map(async (answer) => (await answer).status));
  expect(first).toBe(503);
  for (const release of held.splice(0)) release();
  const all = await Promise.all(calls);
  expect(all.filter(({ status }) => status === 200)).toHaveLength(6);
});
