import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { apiAt } from '@backlot/testing/platform-api';
import { type LoadRequest, load, median } from '../load.ts';
import { data, liftLimits } from '../prepare.ts';
import type { Bed } from './bed.ts';
import { prices } from './seed.ts';

const steady = { connections: 4, pauseMs: 20 };

/** A small project of another owner, with one record. */
const openSmallProject = async (origin: string): Promise<LoadRequest> => {
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
  const made = await apiAt(base)('POST', '/db/small', { token, body: { data } });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const headers = { authorization: `Bearer ${token}` };
  return { url: `${base}/db/small/${made.body.id}`, headers, ...steady };
};

/** What a small project sees while its neighbour inserts into and filters a million at full speed. */
export const benchNeighbour = async ({ origin }: Bed, loud: LoadRequest, seconds: number) => {
  const request = await openSmallProject(origin);
  const ask = async () => {
    const result = await load(request, seconds);
    if (result.failures > 0)
      throw new Error(`${result.failures} calls of the small project failed.`);
    return result;
  };
  const quiet = await ask();
  const filter = JSON.stringify({ price: { $gte: 0, $lt: prices / 2 }, tags: 'none' });
  const others = { ...loud, connections: 8, isElsewhere: true };
  const filtered = [`?${new URLSearchParams({ where: filter })}`];
  const noise = [
    load({ ...others, method: 'POST', body: JSON.stringify({ data }) }, seconds + 2),
    load({ ...others, paths: filtered }, seconds + 2),
  ];
  await pause(1000);
  const busy = await ask();
  await Promise.all(noise);
  console.log(
    `small project beside a loud one   p99 ${busy.p99Ms.toFixed(1)} ms, quiet ${quiet.p99Ms.toFixed(1)} ms, ${(busy.p99Ms / quiet.p99Ms).toFixed(1)}x (bound: 2)`,
  );
};

const patienceMs = 180_000;
/** A list that an index answers. */
const fastMs = 20;

/** From the first list by a field that nobody has declared until an index answers it, and the writers meanwhile. */
export const benchOwnIndex = async (writing: LoadRequest, seconds: number) => {
  const writer = { ...writing, method: 'POST', body: JSON.stringify({ data }), ...steady } as const;
  const before = await load(writer, seconds);
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
    `own index of an undeclared field   ${isIndexed ? `after ${took} s` : 'none'} (bound: 180), writers' p99 in ${seconds} s ${median(p99s).toFixed(1)} ms, at most ${Math.max(...p99s).toFixed(1)} ms, before ${before.p99Ms.toFixed(1)} ms (bound: 2x)`,
  );
};
