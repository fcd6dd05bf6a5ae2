import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@backlot/testing/until';
import { isWhole } from '../is-whole.ts';
import { createLoad, type Failure } from './load.ts';
import { openShop } from './open-shop.ts';
import { prove } from './prove.ts';
import type { SoakTarget, SoakVictim } from './target.ts';

export interface SoakOptions {
  minutes: number;
  print(line: string): void;
  random(): number;
}

interface Window {
  from: number;
  to: number;
}

/** How long what was disturbed stays away. */
const awayMs = 4000;
/** Within this time of its return all has to be well. */
const settleMs = 5000;
const patienceMs = 120_000;
/** What a process may grow by while it works. */
const growth = { ratio: 1.3, bytes: 64 * 2 ** 20 };

const untilWhole = async (target: SoakTarget, what: string) => {
  for (const gateway of target.gateways)
    await until(() => isWhole(gateway), {
      what: `${gateway} after ${what}`,
      timeoutMs: patienceMs,
    });
};

/** Kills or freezes one, and waits until all is well again. */
const disturb = async (
  target: SoakTarget,
  victim: SoakVictim,
  act: 'kill' | 'freeze',
): Promise<Window & { backMs: number }> => {
  const from = Date.now();
  await victim[act]();
  await sleep(awayMs);
  await victim[act === 'kill' ? 'start' : 'thaw']();
  const backAt = Date.now();
  await untilWhole(target, `${victim.name}: ${act}`);
  return { from, to: Date.now() + settleMs, backMs: Date.now() - backAt };
};

const outside = (failures: readonly Failure[], windows: readonly Window[]) =>
  failures.filter(({ from, to }) => !windows.some((one) => from < one.to && to > one.from));

const grown = (before: Record<string, number>, after: Record<string, number>) =>
  Object.entries(after).flatMap(([name, bytes]) => {
    const first = before[name] ?? bytes;
    const megabytes = (count: number) => Math.round(count / 2 ** 20);
    return bytes > first * growth.ratio + growth.bytes
      ? [`${name} has grown from ${megabytes(first)} to ${megabytes(bytes)} MiB`]
      : [];
  });

/**
 * Mixed load while each process and each server is killed and frozen in turn. @returns what is wrong:
 * what was acknowledged and is lost, charged twice, failed while nothing was disturbed, grown, or in a log
 */
export const soak = async (
  target: SoakTarget,
  { minutes, print, random }: SoakOptions,
): Promise<string[]> => {
  await untilWhole(target, 'the start');
  const { said, ...shop } = await openShop(target, 'shop');
  const { said: more, ...models } = await openShop(target, 'models');
  const load = createLoad(target.gateways, shop, models);
  const endsAt = Date.now() + minutes * 60_000;
  const windows: Window[] = [];
  await sleep(settleMs);
  let round = target.victims.flatMap((victim) => [
    [victim, 'kill'] as const,
    [victim, 'freeze'] as const,
  ]);
  round = round
    .map((one) => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
  const turns = round.length;
  let first: Record<string, number> = {};
  let done = 0;
  for (; Date.now() < endsAt; done++) {
    // From here on each has been started anew once.
    if (done === turns) first = await target.memory();
    const [victim, act] = round[done % turns] as (typeof round)[number];
    const { backMs, ...window } = await disturb(target, victim, act);
    windows.push(window);
    print(`${victim.name}: ${act}, whole ${backMs} ms after its return`);
    await sleep(settleMs);
  }
  for (const [victim, act] of round.slice(done)) print(`${victim.name}: ${act}, no time for it`);
  await load.stop();
  await untilWhole(target, 'all');
  const [origin = ''] = target.gateways;
  print(
    'Looks for all that was acknowledged; credits of calls that broke off are held for up to six minutes.',
  );
  const { counts, faults } = await prove({ origin, shop, models, done: load.done });
  print(
    `${done} disturbances; calls ${JSON.stringify(load.counts)}; done ${JSON.stringify(counts)}`,
  );
  print(`${load.failures.length} failures, all named by their status and code:`);
  const named = Object.groupBy(
    load.failures,
    ({ kind, status, code }) => `${kind} ${status} ${code}`,
  );
  for (const [name, list = []] of Object.entries(named)) print(`  ${name}: ${list.length}`);

  const logs = await target.logs();
  const leaks = [...target.secrets, ...said, ...more].filter((secret) => logs.includes(secret));
  return [
    ...faults,
    ...outside(load.failures, windows).map(
      ({ kind, status, code, from }) =>
        `${new Date(from).toISOString()} ${kind} failed while nothing was disturbed: ${status} ${code}`,
    ),
    ...(done > turns ? grown(first, await target.memory()) : []),
    ...(leaks.length > 0 ? [`${leaks.length} secrets or addresses stand in the logs`] : []),
  ];
};
