import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '@backlot/local-servers';
import { compare } from './compare.ts';
import { median, residentMib } from './load/load.ts';
import { startPlatform } from './platform.ts';
import { data, prepare } from './prepare.ts';
import { reachable, startProgram } from './program.ts';

const toFile = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const platformPort = 18_080;
const barePort = 18_081;
const benchStart = async (folder: string) => {
  const dataDir = join(folder, 'start');
  const times: number[] = [];
  for (let start = 0; start < 4; start++) {
    const { program, readyMs } = await startPlatform(platformPort, dataDir);
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

const benchCalls = async (folder: string) => {
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
  const { program } = await startPlatform(platformPort, join(folder, 'calls'), postgres.url);
  const { token, id, place } = await prepare(`http://localhost:${platformPort}`, postgres.url);
  const bare = startProgram(
    toFile('./bare-server.ts'),
    [postgres.url, ...place, String(barePort)],
    {},
  );
  await reachable(`http://127.0.0.1:${barePort}/${id}`, 200);
  const base = `http://localhost:${platformPort}/api/runtime/demo/db/bench`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ data });
  try {
    await compare(
      'get',
      0.5,
      { name: 'all-in-one', pids: [program.pid], request: { url: `${base}/${id}`, headers } },
      {
        name: 'node:http + pg (pipeline)',
        pids: [bare.pid],
        request: { url: `http://127.0.0.1:${barePort}/${id}` },
      },
    );
    await compare(
      'create',
      0.6,
      {
        name: 'all-in-one',
        pids: [program.pid],
        request: { url: base, method: 'POST', headers, body },
      },
      {
        name: 'node:http + pg (pool of 8)',
        pids: [bare.pid],
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
