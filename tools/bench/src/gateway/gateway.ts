import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  identityKeysFor,
  loadSecrets,
  planStack,
  prepareDatabase,
  seedDatabase,
  startServers,
} from '@backlot/all-in-one';
import { recordRoutes } from '@backlot/contract';
import { connectRedis, createRedisCounters } from '@backlot/counters/redis';
import {
  gatewayName,
  identityHeader,
  internalIdentity,
  signIdentity,
  signingKey,
} from '@backlot/identity';
import { apiAt } from '@backlot/testing/platform-api';
import { compare } from '../compare.ts';
import { cpuSeconds, type LoadRequest, load, median, residentMib } from '../load/load.ts';
import { data, operatorToken, prepare } from '../prepare.ts';
import { type Program, reachable, startProgram } from '../program.ts';
import { allocationPerCall } from './allocation.ts';
import { benchFlood } from './flood.ts';

const port = 18_300;
const barePort = 18_320;
const uploadPort = 18_330;
const sinkPort = 18_331;
const toFile = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Calls one after the other: what a call takes when nothing else is going on. */
const alone = async (url: string, headers: Record<string, string>, count: number) => {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const startedAt = performance.now();
    await (await fetch(url, { headers })).arrayBuffer();
    times.push(performance.now() - startedAt);
  }
  return median(times);
};

const benchAdmission = async (redisUrl: string) => {
  const client = connectRedis(redisUrl, { commandTimeoutMs: 5000, onError: () => {} });
  await new Promise((resolve) => client.once('ready', resolve));
  const counters = createRedisCounters(client);
  const checks = [1, 2].map((n) => ({
    key: `rl:{bench}:${n}`,
    limit: 1_000_000,
    windowMs: 60_000,
  }));
  const calls = async () =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
  const total = 100_000;
  const before = await calls();
  const usedBefore = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      for (let n = 0; n < total / 64; n++) await counters.admit(checks);
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(usedBefore);
  const sent = (await calls()) - before;
  console.log(
    `admission alone: ${(sent / seconds).toFixed(0)}/s, ${((user + system) / sent).toFixed(0)} µs of node a call, ${(sent / (Math.floor(total / 64) * 64)).toFixed(2)} commands a call`,
  );
  await counters.close();
};

/** 200 MB of undeclared length through the gateway: how much its memory grows. */
const benchUpload = async (running: (() => Promise<unknown>)[]) => {
  const sink = createServer((req, res) => {
    let size = 0;
    req.on('data', (chunk) => {
      size += chunk.length;
    });
    req.on('end', () => res.end(JSON.stringify({ size })));
  });
  await new Promise<void>((resolve) => sink.listen(sinkPort, '127.0.0.1', resolve));
  running.push(async () => sink.close());
  const service = `http://127.0.0.1:${sinkPort}`;
  const program = startProgram(toFile('../upload-gateway.ts'), [String(uploadPort), service], {});
  running.push(() => program.stop());
  const origin = `http://localhost:${uploadPort}`;
  await reachable(`${origin}/healthz`, 200);
  const send = async (megabytes: number) => {
    const chunk = new Uint8Array(1024 * 1024);
    const body = ReadableStream.from(Array.from({ length: megabytes }, () => chunk));
    const url = `${origin}/api/runtime/demo/upload`;
    const answer = await fetch(url, { method: 'POST', body, duplex: 'half' } as RequestInit);
    const { size } = (await answer.json()) as { size: number };
    if (size !== megabytes * 1024 * 1024) throw new Error(`${size} bytes arrived.`);
  };
  await send(50);
  const before = residentMib(program.pid);
  let most = before;
  const sampling = setInterval(() => {
    most = Math.max(most, residentMib(program.pid));
  }, 5);
  await send(200);
  clearInterval(sampling);
  console.log(`200 MB upload: memory grows by ${(most - before).toFixed(0)} MiB (bound: 60)`);
};

/** About 1,000 calls a second, each at a time of its own. */
const steady = { connections: 32, pauseMs: 31 };

/** What the gateway adds to a call: the same calls with and without it. */
const benchAdded = async (
  through: LoadRequest,
  recordsOrigin: string,
  place: string[],
  id: string,
  identityRoot: string,
) => {
  const { service, operationId } = recordRoutes.getRecord;
  const key = signingKey(identityKeysFor(gatewayName, identityRoot), service);
  const project = { id: 'demo', number: Number(place[0]), name: '', ownerId: null, settings: {} };
  const identity = { ...internalIdentity, project };
  const direct: number[] = [];
  const withGateway: number[] = [];
  for (let round = 0; round < 3; round++) {
    const headers = {
      [identityHeader]: signIdentity(identity, operationId, key, Date.now()),
    };
    const straight = { url: `${recordsOrigin}/db/bench/${id}`, headers, ...steady };
    direct.push((await load(straight, 3)).p50Ms);
    withGateway.push((await load({ ...through, ...steady }, 3)).p50Ms);
  }
  const [slower, faster] = [median(withGateway), median(direct)];
  console.log(
    `p50 at about 1,000/s over 32 connections: ${slower.toFixed(2)} ms with the gateway, ${faster.toFixed(2)} ms without, added ${(slower - faster).toFixed(2)} ms (bound: 1)`,
  );
};

const benchStack = async (folder: string, running: (() => Promise<unknown>)[]) => {
  const none = { databaseUrl: undefined, redisUrl: undefined, amqpUrl: undefined };
  const servers = await startServers(none, folder, running);
  const databaseUrls = await prepareDatabase(servers.databaseUrl, console.warn);
  const secrets = await loadSecrets(folder);
  await seedDatabase(databaseUrls, {}, secrets);
  const plan = planStack(
    port,
    { ...servers, databaseUrls },
    secrets,
    { BACKLOT_OPERATOR_TOKEN: operatorToken },
    join(folder, 'files'),
  );
  const programs = new Map<string, Program>();
  for (const { name, entry, env } of [...plan.services, ...plan.gateways.slice(0, 1)]) {
    const program = startProgram(entry, [], { ...env, BACKLOT_LOG_LEVEL: 'error' });
    programs.set(name, program);
    running.push(() => program.stop());
  }
  const origin = `http://localhost:${port}`;
  await reachable(`${origin}/readyz`, 200);
  const { token, id, place } = await prepare(origin, servers.databaseUrl);
  const bare = startProgram(
    toFile('../bare-server.ts'),
    [servers.databaseUrl, ...place, String(barePort)],
    {},
  );
  running.push(() => bare.stop());
  await reachable(`http://127.0.0.1:${barePort}/${id}`, 200);

  const headers = { authorization: `Bearer ${token}` };
  const url = `${origin}/api/runtime/demo/db/bench/${id}`;
  const gateway = programs.get('gateway-1')?.pid ?? 0;
  await compare(
    'get',
    0.18,
    { name: 'gateway and records', pids: [gateway], request: { url, headers } },
    {
      name: 'node:http + pg (pipeline)',
      pids: [bare.pid],
      request: { url: `http://127.0.0.1:${barePort}/${id}` },
    },
  );
  const before = await cpuSeconds(gateway);
  const { requestsPerSecond } = await load({ url, headers, connections: 32 }, 5);
  const micros = (((await cpuSeconds(gateway)) - before) * 1e6) / (requestsPerSecond * 5);
  console.log(
    `gateway at 32 connections: ${micros.toFixed(0)} µs CPU a call (bound: 100 where the bare server takes 26)`,
  );

  const second = plan.gateways[1];
  const secondUrl = plan.urls[1];
  if (second && secondUrl) {
    const env = { ...second.env, BACKLOT_LOG_LEVEL: 'error' };
    const request = { url: `${secondUrl}/api/runtime/demo/db/bench/${id}`, headers };
    const bytes = await allocationPerCall(second.entry, env, secondUrl, request);
    console.log(`gateway: ${(bytes / 1024).toFixed(1)} KiB on the heap a call`);
  }

  const api = apiAt(`${origin}/api/runtime/demo`);
  const made = await api('POST', '/db/bench', { token, body: { data } });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const through = await alone(url, headers, 500);
  const direct = await alone(`http://127.0.0.1:${barePort}/${id}`, {}, 500);
  console.log(
    `one call at a time: p50 ${through.toFixed(2)} ms through gateway and records, ${direct.toFixed(2)} ms bare`,
  );
  const records = plan.services.find(({ name }) => name === 'records')?.env.PORT;
  const recordsOrigin = `http://127.0.0.1:${records}`;
  await benchAdded({ url, headers }, recordsOrigin, place, id, secrets.identitySecret);
  await benchUpload(running);
  await benchAdmission(servers.redisUrl);
  await benchFlood({ origin, gatewayPid: gateway, token, id }, running);
};

/** The gateway and the records service as processes of their own, limits in Redis. */
export const benchGateway = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-bench-'));
  const running: (() => Promise<unknown>)[] = [];
  try {
    await benchStack(folder, running);
  } finally {
    for (const stop of running.reverse()) await stop();
    await rm(folder, { recursive: true, force: true });
  }
};
