import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { apiAt } from '@backlot/testing/platform-api';
import { type Purpose, spawnElsewhere } from '../load/elsewhere.ts';
import { cpuSeconds, median, paced, quantile, residentMib } from '../load/load.ts';
import { newAddresses } from '../neighbours/addresses.ts';
import { checked, openTenant, type Tenant } from '../neighbours/tenants.ts';
import { liftLimits, operatorToken } from '../prepare.ts';
import { type Program, reachable, startProgram } from '../program.ts';
import type { LiveFigures, LiveLoad } from './live-load.ts';
import { openPatiently } from './open-stream.ts';

const port = 18_400;
const origin = `http://localhost:${port}`;
const otherOrigin = `http://localhost:${port + 1}`;
const program = fileURLToPath(new URL('./subscribers-main.ts', import.meta.url));
/** Of one project, as many as it may have: of an address there are 100. */
const perProject = 1000;
const perAddress = 100;
const perRoom = 5;
const deliverySeconds = 20;
const idleSeconds = 30;
const rounds = 5;
const roundSeconds = 4;
/** From the first write beside the neighbour to the first call that counts. */
const leadMs = 2000;

const start = (purpose: Purpose, load: LiveLoad) => {
  const child = spawnElsewhere(purpose, process.execPath, [program]);
  child.stdin.end(JSON.stringify(load));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const isOpen = lines.next();
  const figures = isOpen
    .then(() => lines.next())
    .then(({ value }): LiveFigures => JSON.parse(value ?? 'null'));
  return { isOpen, figures, stop: () => void child.kill('SIGTERM') };
};

const addressesFor = (streams: number) =>
  newAddresses(origin, Math.ceil(streams / perAddress)).flatMap((address) => address ?? []);

const newKey = async ({ projectId, ownerToken: token }: Tenant) => {
  const body = { name: 'live' };
  const made = await apiAt(`${origin}/api/platform`)('POST', `/projects/${projectId}/keys`, {
    token,
    body,
  });
  return String(checked(201, made).key);
};

const openProject = async () => {
  const [address] = newAddresses(origin, 1);
  const tenant = await openTenant(origin, address);
  await liftLimits(origin, tenant.projectId);
  return { ...tenant, key: await newKey(tenant) };
};
type Project = Awaited<ReturnType<typeof openProject>>;

const toLoad = (
  { base, key }: Project,
  subscribers: number,
  writesPerSecond: number,
): LiveLoad => ({
  base,
  key,
  addresses: addressesFor(subscribers),
  subscribers,
  rooms: Math.max(1, subscribers / perRoom),
  writesPerSecond,
});

const benchDelivery = async (subscribers: number, writesPerSecond: number) => {
  for (const [who, rate] of [
    [perRoom, 20],
    [subscribers, writesPerSecond],
  ] as const) {
    const load = { ...toLoad(await openProject(), who, rate), seconds: deliverySeconds };
    const { p50Ms, p99Ms, perSecond, events, missing, failed } = await start('measurement', load)
      .figures;
    console.log(
      `delivery     ${who} subscribers, ${perSecond.toFixed(0)} of ${rate} writes/s: p50 ${p50Ms.toFixed(1)} ms (goal 30), p99 ${p99Ms.toFixed(1)} ms (goal 150); ${events} events, ${missing} missing, ${failed} writes failed`,
    );
  }
};

const benchNeighbour = async (subscribers: number, writesPerSecond: number) => {
  const [neighbour, loud] = [await openProject(), await openProject()];
  const api = apiAt(neighbour.base);
  const made = checked(
    201,
    await api('POST', '/db/things', { token: neighbour.key, body: { data: { n: 1 } } }),
  );
  const headers = { authorization: `Bearer ${neighbour.key}` };
  const call = () => paced(`${neighbour.base}/db/things/${made.id}`, headers, 40, roundSeconds);
  await call();
  const p99s = { quiet: [] as number[], loud: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    p99s.quiet.push(quantile(await call(), 0.99));
    const load = start('load', toLoad(loud, subscribers, writesPerSecond));
    await load.isOpen;
    await pause(leadMs);
    p99s.loud.push(quantile(await call(), 0.99));
    load.stop();
    const { perSecond } = await load.figures;
    console.log(`neighbour    round ${round}: ${perSecond.toFixed(0)} writes/s beside it`);
    await pause(1000);
  }
  const [quiet, busy] = [median(p99s.quiet), median(p99s.loud)];
  console.log(
    `neighbour    p99 of a get: ${quiet.toFixed(1)} ms quiet, ${busy.toFixed(1)} ms beside ${subscribers} streams and ${writesPerSecond} writes/s: ratio ${(busy / quiet).toFixed(2)} (goal 2)`,
  );
};

/** Processes of the stack whose command names the file, by their settings; Linux only. */
const findProcess = async (parent: number, file: string, setting: string) => {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const read = (what: string) => readFile(`/proc/${name}/${what}`, 'utf8').catch(() => '');
    const isChild = (await read('status')).includes(`PPid:\t${parent}\n`);
    if (
      isChild &&
      (await read('cmdline')).includes(file) &&
      (await read('environ')).includes(setting)
    )
      return Number(name);
  }
  throw new Error(`No process of ${file}.`);
};

/** Half of them through each gateway, which has two sockets for each: of open files a process has often 20,000 at most. */
const benchIdle = async (stack: Program, streams: number) => {
  const processes = {
    gateway: await findProcess(stack.pid, 'stack/gateway-main.ts', `PORT=${port}\0`),
    'other gateway': await findProcess(stack.pid, 'gateway/src/main.ts', `PORT=${port + 1}\0`),
    records: await findProcess(stack.pid, 'services/records/src/main.ts', ''),
  };
  const look = async () =>
    Promise.all(
      Object.entries(processes).map(async ([name, pid]) => ({
        name,
        cpu: await cpuSeconds(pid),
        mib: residentMib(pid),
      })),
    );
  const projects: Project[] = [];
  for (let n = 0; n < streams / perProject; n++) projects.push(await openProject());
  const addresses = addressesFor(perProject);
  for (const { base } of projects)
    await openPatiently(
      `${base}/events?collections=live`,
      addresses[0] ? { address: addresses[0] } : {},
    );
  await pause(2000);
  const before = await look();
  const startedAt = performance.now();
  for (const [n, { base }] of projects.entries()) {
    const first = 1;
    const count = Math.min(perProject, streams - n * perProject);
    for (let i = first; i < count; i += 25)
      await Promise.all(
        Array.from({ length: Math.min(25, count - i) }, (_, k) =>
          openPatiently(
            `${k % 2 ? base : base.replace(origin, otherOrigin)}/events?collections=live`,
            {
              address: addresses[(i + k) % addresses.length],
            },
          ),
        ),
      );
  }
  const openedMs = performance.now() - startedAt;
  console.log(`idle         ${streams} streams opened in ${(openedMs / 1000).toFixed(1)} s`);
  await pause(25_000);
  const open = await look();
  await pause(idleSeconds * 1000);
  const after = await look();
  for (const [n, { name, mib, cpu }] of after.entries()) {
    const grown = mib - (before[n]?.mib ?? 0);
    const share = ((cpu - (open[n]?.cpu ?? 0)) / idleSeconds) * 100;
    console.log(
      `idle         ${name}: ${mib.toFixed(0)} MiB (goal for records 500), ${(before[n]?.mib ?? 0).toFixed(0)} before, ${((grown * 1024) / (name === 'records' ? streams : streams / 2)).toFixed(1)} KiB a stream; ${share.toFixed(1)} % of a core`,
    );
  }
};

const parts = ['delivery', 'neighbour', 'idle'];

/**
 * Streams of changes over gateway and services as processes of their own: how long an event takes from the answer of
 * the write, what a neighbour notices, and what idle streams cost.
 *
 * @param args parts of it, all where none is named, and subscribers, writes a second and idle streams
 */
export const benchLive = async (args: readonly string[]): Promise<void> => {
  const [subscribers = perProject, writesPerSecond = 500, idle = 10_000] = args
    .filter((arg) => /^\d+$/.test(arg))
    .map(Number);
  const named = args.filter((arg) => parts.includes(arg));
  const chosen = named.length > 0 ? named : parts;
  const folder = await mkdtemp(join(tmpdir(), 'backlot-bench-'));
  const stack = startProgram(
    fileURLToPath(import.meta.resolve('@backlot/all-in-one/stack-main')),
    [],
    {
      PORT: String(port),
      BACKLOT_DATA_DIR: join(folder, 'data'),
      BACKLOT_OPERATOR_TOKEN: operatorToken,
      BACKLOT_OWNER_VERIFICATION: 'off',
      BACKLOT_LOG_LEVEL: 'silent',
    },
  );
  try {
    await reachable(`${origin}/readyz`, 200);
    if (chosen.includes('delivery')) await benchDelivery(subscribers, writesPerSecond);
    if (chosen.includes('neighbour')) await benchNeighbour(subscribers, writesPerSecond);
    if (chosen.includes('idle')) await benchIdle(stack, idle);
  } finally {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
};
