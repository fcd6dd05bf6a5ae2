import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startPostgres } from '@backlot/local-servers';
import { apiAt } from '@backlot/testing/platform-api';
import pg from 'pg';
import { cpuSeconds, median, residentMib } from './load/load.ts';
import { startPlatform } from './platform.ts';
import { operatorToken } from './prepare.ts';

const port = 18_080;
const origin = `http://localhost:${port}`;
const recordsEach = 20;
const atOnce = 4;
const watchedSeconds = 120;
const firstCalls = 200;

const settings = {
  BACKLOT_MAX_PROJECTS_PER_OWNER: '1000000',
  BACKLOT_DEFAULT_LIMITS: JSON.stringify(
    Object.fromEntries(
      ['read', 'write'].map((name) => [name, { perCaller: 1_000_000, perProject: 1_000_000 }]),
    ),
  ),
  BACKLOT_OWNER_VERIFICATION: 'off',
};

/** Each with twenty records of a kilobyte: an app that was tried and left. @returns their ids */
const addProjects = async (count: number): Promise<string[]> => {
  const platform = apiAt(`${origin}/api/runtime/platform`);
  const account = { email: `${randomUUID()}@example.org`, password: 'a good long password' };
  const { token } = (await platform('POST', '/auth/signup', { body: account })).body;
  const create = Array.from({ length: recordsEach }, (_, n) => ({
    data: { title: `Record ${n}`, text: 'x'.repeat(900) },
  }));
  const ids: string[] = [];
  const add = async () => {
    while (ids.length < count) {
      const place = ids.push('') - 1;
      const made = await apiAt(`${origin}/api/platform`)('POST', '/projects', {
        token,
        body: { name: `Idle ${place}` },
      });
      if (made.status !== 201) throw new Error(JSON.stringify(made.body));
      ids[place] = made.body.id;
      const api = apiAt(`${origin}/api/runtime/${made.body.id}`);
      const filled = await api('POST', '/db/notes/_batch', { token, body: { create } });
      if (filled.status !== 200) throw new Error(JSON.stringify(filled.body));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, add));
  return ids;
};

const parentOf = (pid: string): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1];
  } catch {
    return undefined;
  }
};

/** CPU seconds so far of PostgreSQL's processes that run now, on this machine. */
const postgresSeconds = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query('SELECT pg_backend_pid()::text AS pid');
  const parent = parentOf(rows[0].pid) ?? '';
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && parentOf(name) === parent,
  );
  const each = await Promise.all(
    [parent, ...children].map((pid) => cpuSeconds(Number(pid)).catch(() => 0)),
  );
  return each.reduce((sum, seconds) => sum + seconds, 0);
};

const cost = async (pid: number, client: pg.Client) => {
  await client.query('CHECKPOINT');
  const before = [await cpuSeconds(pid), await postgresSeconds(client)] as const;
  await pause(watchedSeconds * 1000);
  const { rows } = await client.query('SELECT pg_database_size(current_database()) AS bytes');
  return {
    'database, MiB': Number(rows[0].bytes) / 2 ** 20,
    'memory of the process, MiB': residentMib(pid),
    'CPU of the process, %': ((await cpuSeconds(pid)) - before[0]) * (100 / watchedSeconds),
    'CPU of PostgreSQL, %': ((await postgresSeconds(client)) - before[1]) * (100 / watchedSeconds),
  };
};

/** The first call of each project since the start, and the second. */
const callTimes = async (ids: readonly string[]) => {
  const call = async (id: string) => {
    const beganAt = performance.now();
    const { status } = await apiAt(`${origin}/api/runtime/${id}`)('GET', '/db/notes?limit=10', {
      token: operatorToken,
    });
    if (status !== 200) throw new Error(`${status}`);
    return performance.now() - beganAt;
  };
  const first: number[] = [];
  const second: number[] = [];
  for (const id of ids) {
    first.push(await call(id));
    second.push(await call(id));
  }
  return [median(first), median(second)] as const;
};

/** What projects cost that nobody calls, beside the same installation without them; minutes. */
export const benchIdleProjects = async ([count = '10000']: readonly string[]): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-idle-'));
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const start = () => startPlatform(port, join(folder, 'platform'), postgres.url, { settings });
  let platform = await start();
  try {
    const [one = ''] = await addProjects(1);
    await callTimes([one]);
    const without = await cost(platform.program.pid, client);
    const ids = await addProjects(Number(count));
    await platform.program.stop();
    platform = await start();
    await callTimes([one]);
    const idle = await cost(platform.program.pid, client);
    for (const [name, figure] of Object.entries(idle)) {
      const before = without[name as keyof typeof idle];
      console.log(`${name}: ${before.toFixed(2)} without, ${figure.toFixed(2)} with ${count} idle`);
    }
    console.log(`start with them: ${(platform.readyMs / 1000).toFixed(2)} s`);
    const [first, second] = await callTimes(ids.slice(0, firstCalls));
    console.log(
      `a project's first call ${first.toFixed(1)} ms, its second ${second.toFixed(1)} ms`,
    );
  } finally {
    await platform.program.stop();
    await client.end();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
};
