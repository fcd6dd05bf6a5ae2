import { until } from '@backlot/testing';
import { apiAt } from '@backlot/testing/platform-api';
import { expect } from '@jest/globals';
import { later } from '../ai-calls.ts';
import type { Victim } from '../os-process.ts';
import { follow } from './follower.ts';
import { startWriters } from './writers.ts';

export interface StreamsUnderTest {
  /** Of gateways. */
  origins: readonly string[];
  projectId: string;
  /** A secret key of it. */
  key: string;
  owner: { token: string };
  victims: Readonly<Record<string, Victim>>;
  isWhole(origin: string): Promise<boolean>;
}

export interface StreamsLoad {
  writers: number;
  pauseMs: number;
  followers: number;
  /** How often each of the victims is killed. */
  rounds: number;
}

const collection = 'cards';
const windowMs = 1500;
const longestDownMs = 700;

const access = {
  read: ['owner', { to: ['anyone'], where: { open: true } }],
  create: ['users'],
  change: ['owner'],
};

/** Whatever is killed: who applies what their stream tells holds what they may read, and is told of nothing twice. */
export const proveStreams = async (
  { origins, projectId, key, owner, victims, isWhole }: StreamsUnderTest,
  { writers: count, pauseMs, followers: many, rounds }: StreamsLoad,
  random: () => number,
): Promise<string> => {
  const control = apiAt(`${origins[0]}/api/platform/projects/${projectId}`);
  const set = await control('PUT', `/collections/${collection}`, {
    token: owner.token,
    body: { access },
  });
  expect(set.status).toBe(200);
  const bases = origins.map((origin) => `${origin}/api/runtime/${projectId}`);
  const filters = () => {
    const most = Math.floor(random() * 10);
    const all = [null, { n: { $lte: most } }, { open: true }, { open: false, n: { $ne: most } }];
    return all[Math.floor(random() * all.length)] ?? null;
  };
  // A key sees all, and has ten streams; visitors see what is open.
  const followers = Array.from({ length: many }, (_, n) =>
    follow({
      base: bases[n % bases.length] ?? '',
      headers: n < 8 ? { authorization: `Bearer ${key}` } : {},
      collection,
      where: filters(),
    }),
  );
  const writing = startWriters(bases, { count, pauseMs, key, collection }, random);
  let isOver = false;
  const cutting = (async () => {
    while (!isOver)
      await later(random() * 400, async () => followers[Math.floor(random() * many)]?.cut());
  })();
  const story: string[] = [];
  try {
    await until(() => writing.written() > 2 * count, { what: 'writes' });
    for (let round = 0; round < rounds; round++)
      for (const [name, victim] of Object.entries(victims)) {
        const before = writing.written();
        await later(random() * windowMs, victim.kill);
        await later(random() * longestDownMs, victim.restart);
        for (const origin of origins)
          await until(() => isWhole(origin), { what: `${origin} after ${name}` });
        await until(() => writing.written() > before + count, { what: `writes after ${name}` });
        story.push(`${name}: ${writing.written()} written`);
      }
    await writing.stop();
    isOver = true;
    await cutting;
    for (const [n, follower] of followers.entries()) {
      const isSame = async () => {
        const [held, listed] = [follower.held, await follower.list()].map((records) =>
          JSON.stringify([...records].sort()),
        );
        return held === listed;
      };
      await until(isSame, { what: `what follower ${n} holds` });
      expect([n, follower.refusals, follower.repeated]).toEqual([n, [], []]);
    }
    const resumed = followers.reduce((sum, follower) => sum + follower.resumed(), 0);
    expect(resumed).toBeGreaterThan(rounds);
    story.push(
      `${JSON.stringify([...writing.answers])}; ${many} followers came back ${resumed} times`,
    );
    return story.join('\n');
  } finally {
    isOver = true;
    await Promise.all([writing.stop(), ...followers.map((follower) => follower.stop())]);
  }
};
