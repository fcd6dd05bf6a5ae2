import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '@backlot/local-servers';
import pg from 'pg';
import { apiAt } from '../journeys/api.ts';
import {
  cpuSeconds,
  type LoadRequest,
  type LoadResult,
  load,
  median,
  residentMib,
} from './load.ts';

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const platformPort = 18_080;
const barePort = 18_081;
const rounds = 5;
const roundSeconds = 4;
/** The record of docs/decisions/0002: 951 bytes of JSON. */
const data = {
  title: 'A record of about one kilobyte',
  text: 'x'.repeat(780),
  tags: ['a', 'b', 'c'],
  nested: { amount: 12.5, ok: true },
  count: 42,
};

interface Program {
  pid: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const startProgram = (file: string, args: string[], env: Record<string, string>): Program => {
  const child = spawn(process.execPath, [fileOf(file), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    pid: child.pid ?? 0,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await exited;
    },
  };
};

const reachable = async (url: string, expected: number) => {
  const startedAt = performance.now();
  for (;;) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    );
    if (status === expected) return performance.now() - startedAt;
    if (performance.now() - startedAt > 60_000)
      throw new Error(`${url} did not answer ${expected}.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

const startPlatform = async (dataDir: string, databaseUrl = '') => {
  const env = { PORT: String(platformPort), BACKLOT_DATA_DIR: dataDir, DATABASE_URL: databaseUrl };
  const startedAt = performance.now();
  const program = startProgram('../src/main.ts', [], {
    ...env,
    BACKLOT_OPERATOR_TOKEN: 'operator-of-the-benchmark',
  });
  await reachable(`http://localhost:${platformPort}/readyz`, 200);
  return { program, readyMs: performance.now() - startedAt };
};

const benchStart = async (folder: string) => {
  const dataDir = join(folder, 'start');
  const times: number[] = [];
  for (let start = 0; start < 4; start++) {
    const { program, readyMs } = await startPlatform(dataDir);
    times.push(readyMs);
    if (start === 3) {
      await new Promise((resolve) => setTimeout(resolve, 3000));
      console.log(
        `idle memory of the process      ${residentMib(program.pid).toFixed(0)} MiB   (bound: 200)`,
      );
    }
    await program.stop();
  }
  const [first = 0, ...later] = times;
  console.log(`ready on a new data folder      ${(first / 1000).toFixed(2)} s     (bound: 6)`);
  console.log(
    `ready on an existing one        ${(median(later) / 1000).toFixed(2)} s     (bound: 3; median of ${later.length})`,
  );
};

const prepare = async (databaseUrl: string) => {
  const control = apiAt(`http://localhost:${platformPort}/api/platform`);
  const api = apiAt(`http://localhost:${platformPort}/api/runtime/demo`);
  const wide = { perCaller: 1_000_000, perProject: 1_000_000 };
  await control('PUT', '/projects/demo/limits', {
    token: 'operator-of-the-benchmark',
    body: { read: wide, write: wide },
  });
  const account = await api('POST', '/auth/signup', {
    body: { email: `${Date.now()}@example.org`, password: 'a good long password' },
  });
  const record = await api('POST', '/db/bench', { token: account.body.token, body: { data } });
  if (record.status !== 201) throw new Error(JSON.stringify(record.body));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    'SELECT project_id, coll_id FROM records.records WHERE id = $1',
    [record.body.id],
  );
  await client.end();
  return {
    token: account.body.token as string,
    id: record.body.id as string,
    place: [String(rows[0].project_id), String(rows[0].coll_id)],
  };
};

interface Subject {
  name: string;
  pid: number;
  request: LoadRequest;
}

/** Turn about, so that both see the same noise of the machine. */
const compare = async (what: string, bound: number, subject: Subject, bare: Subject) => {
  const measured = new Map<Subject, { result: LoadResult; cpuMicros: number }[]>([
    [subject, []],
    [bare, []],
  ]);
  for (const each of [subject, bare]) await load(each.request, 2);
  for (let round = 0; round < rounds; round++) {
    for (const [each, results] of measured) {
      const before = await cpuSeconds(each.pid);
      const result = await load(each.request, roundSeconds);
      if (result.failures > 0) throw new Error(`${each.name}: ${result.failures} calls failed`);
      const used = (await cpuSeconds(each.pid)) - before;
      results.push({ result, cpuMicros: (used * 1e6) / (result.requestsPerSecond * roundSeconds) });
    }
  }
  const rate = (each: Subject) =>
    median((measured.get(each) ?? []).map(({ result }) => result.requestsPerSecond));
  for (const [each, results] of measured) {
    console.log(
      `${what.padEnd(8)}${each.name.padEnd(24)}${rate(each).toFixed(0).padStart(7)}/s  p50 ${median(results.map(({ result }) => result.p50Ms))} ms  p99 ${median(results.map(({ result }) => result.p99Ms))} ms  ${median(results.map(({ cpuMicros }) => cpuMicros)).toFixed(0)} µs CPU a call`,
    );
  }
  console.log(
    `${what.padEnd(8)}ratio                   ${(rate(subject) / rate(bare)).toFixed(2)}   (bound: ${bound})`,
  );
};

const benchCalls = async (folder: string) => {
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
  const { program } = await startPlatform(join(folder, 'calls'), postgres.url);
  const { token, id, place } = await prepare(postgres.url);
  const bare = startProgram('./bare-server.ts', [postgres.url, ...place, String(barePort)], {});
  await reachable(`http://127.0.0.1:${barePort}/${id}`, 200);
  const base = `http://localhost:${platformPort}/api/runtime/demo/db/bench`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ data });
  try {
    await compare(
      'get',
      0.5,
      { name: 'all-in-one', pid: program.pid, request: { url: `${base}/${id}`, headers } },
      {
        name: 'node:http + pg (pipeline)',
        pid: bare.pid,
        request: { url: `http://127.0.0.1:${barePort}/${id}` },
      },
    );
    await compare(
      'create',
      0.6,
      {
        name: 'all-in-one',
        pid: program.pid,
        request: { url: base, method: 'POST', headers, body },
      },
      {
        name: 'node:http + pg (pool of 8)',
        pid: bare.pid,
        request: { url: `http://127.0.0.1:${barePort}/`, method: 'POST', headers, body },
      },
    );
  } finally {
    await bare.stop();
    await program.stop();
    await postgres.stop();
  }
};

/** Cold start, idle memory, and the all-in-one path against a bare server on the same database. */
export const benchDev = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-bench-'));
  try {
    await benchStart(folder);
    await benchCalls(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
