import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { apiAt } from '@backlot/testing/platform-api';
import { type LoadRequest, load, median } from '../load/load.ts';
import { data, liftLimits } from '../prepare.ts';
import type { Bed } from './bed.ts';
import { prices } from './seed.ts';

const steady = { connections: 4, pauseMs: 20 };
const smallRecords = 100;

/** As a proxy says it: tenants call from addresses of their own. */
const from = (address: string) => ({ 'x-forwarded-for': address });

/** Calls of a small project of another owner, with so many records. */
const openSmallProject = async (origin: string): Promise<Record<string, LoadRequest>> => {
  const account = { email: `${randomUUID()}@example.org`, password: 'a good long password' };
  const owner = await apiAt(`${origin}/api/runtime/platform`)('POST', '/auth/signup', {
    body: account,
  });
  const { token } = owner.body;
  const project = await apiAt(`${origin}/api/platform`)('POST', '/projects', {
    token,
    body: { name: 'Small' },
  });
  await liftLimits(origin, project.body.id);
  const base = `${origin}/api/runtime/${project.body.id}`;
  const create = Array.from({ length: smallRecords }, (_, n) => ({
    data: { ...data, status: `st-${n % 10}` },
  }));
  const made = await apiAt(base)('POST', '/db/small/_batch', { token, body: { create } });
  if (made.status !== 200) throw new Error(JSON.stringify(made.body));
  const byId: string[] = made.body.create.map(({ id }: { id: string }) => `/${id}`);
  const request: LoadRequest = {
    ...steady,
    url: `${base}/db/small`,
    elsewhere: 'measurement',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...from('192.0.2.1'),
    },
  };
  const body = (content: object) => JSON.stringify({ data: content });
  return {
    get: { ...request, paths: byId },
    newest: { ...request, paths: ['?limit=50'] },
    equality: { ...request, paths: [`?${new URLSearchParams({ where: '{"status":"st-3"}' })}`] },
    create: { ...request, url: `${base}/db/created`, method: 'POST', body: body(data) },
    patch: { ...request, method: 'PATCH', paths: byId, body: body({ views: 7 }) },
  };
};

const rounds = 7;

/**
 * What a small project sees while its neighbour inserts into and filters a million at full speed, on a platform that
 * trusts one proxy.
 */
export const benchNeighbour = async ({ origin }: Bed, loud: LoadRequest, seconds: number) => {
  const requests = Object.entries(await openSmallProject(origin));
  const ask = async () => {
    const p99s: number[] = [];
    for (const [, request] of requests) {
      const result = await load(request, seconds);
      if (result.failures > 0)
        throw new Error(`${result.failures} calls of the small project failed.`);
      p99s.push(result.p99Ms);
    }
    return p99s;
  };
  const filter = JSON.stringify({ price: { $gte: 0, $lt: prices / 2 }, tags: 'none' });
  const headers = { ...loud.headers, ...from('192.0.2.2') };
  const others: LoadRequest = { ...loud, headers, connections: 8, elsewhere: 'load' };
  const filtered = [`?${new URLSearchParams({ where: filter })}`];
  const noiseSeconds = seconds * requests.length + 2;
  const askBesideNoise = async () => {
    const noise = Promise.all([
      load({ ...others, method: 'POST', body: JSON.stringify({ data }) }, noiseSeconds),
      load({ ...others, paths: filtered }, noiseSeconds),
    ]);
    await pause(1000);
    const p99s = await ask();
    await noise;
    return p99s;
  };
  const quiet: number[][] = [];
  const busy: number[][] = [];
  for (let round = 0; round < rounds; round++) {
    quiet.push(await ask());
    busy.push(await askBesideNoise());
  }
  for (const [at, [name]] of requests.entries()) {
    const p99 = (all: number[][]) => median(all.map((each) => each[at] ?? Number.NaN));
    console.log(
      `small project's ${name} beside a loud one   p99 ${p99(busy).toFixed(1)} ms, quiet ${p99(quiet).toFixed(1)} ms, ${(p99(busy) / p99(quiet)).toFixed(1)}x (bound: 2)`,
    );
  }
};

const patienceMs = 180_000;
/** A list that an index answers. */
const fastMs = 20;

/** From the first list by a field that nobody has declared until an index answers it, and the writers meanwhile. */
export const benchOwnIndex = async (writing: LoadRequest, seconds: number) => {
  const writer = { ...writing, method: 'POST', body: JSON.stringify({ data }), ...steady } as const;
  const before: number[] = [];
  for (let round = 0; round < rounds; round++) before.push((await load(writer, seconds)).p99Ms);
  const url = `${writing.url}?${new URLSearchParams({ where: '{"category":"c-5"}', limit: '20' })}`;
  const startedAt = performance.now();
  let isIndexed = false;
  const ask = async () => {
    while (!isIndexed && performance.now() - startedAt < patienceMs) {
      const askedAt = performance.now();
      const { ok, body } = await fetch(url, { headers: writing.headers ?? {} });
      await body?.cancel();
      isIndexed = ok && performance.now() - askedAt < fastMs;
      await pause(500);
    }
  };
  const p99s: number[] = [];
  const write = async () => {
    while (!isIndexed && performance.now() - startedAt < patienceMs)
      p99s.push((await load(writer, seconds)).p99Ms);
  };
  await Promise.all([ask(), write()]);
  const took = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(
    `own index of an undeclared field   ${isIndexed ? `after ${took} s` : 'none'} (bound: 180), writers' p99 in ${seconds} s ${median(p99s).toFixed(1)} ms, at most ${Math.max(...p99s).toFixed(1)} ms, before ${median(before).toFixed(1)} ms (bound: 2x)`,
  );
};
