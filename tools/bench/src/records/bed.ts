import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findFreePort, startPostgres } from '@backlot/local-servers';
import { apiAt } from '@backlot/testing/platform-api';
import pg from 'pg';
import { type PlatformOptions, startPlatform } from '../platform.ts';
import { operatorToken, prepare } from '../prepare.ts';
import type { Program } from '../program.ts';

const firstPort = 18_700;

export interface Bed {
  origin: string;
  databaseUrl: string;
  /** Past the service, as PostgreSQL's superuser. */
  client: pg.Client;
  program: Program;
  /** Of a user of the project `demo`, whose limits are lifted. */
  token: string;
  /** The collection `bench` of the project `demo`. */
  place: { projectId: number; collectionId: number };
  running: (() => Promise<unknown>)[];
}

/** `pnpm dev` on a PostgreSQL of its own. */
export const withBed = async (
  work: (bed: Bed) => Promise<void>,
  options?: PlatformOptions,
): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-bench-'));
  const running: Bed['running'] = [];
  try {
    const postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
    running.push(() => postgres.stop());
    const port = await findFreePort(firstPort);
    const { program } = await startPlatform(port, join(folder, 'data'), postgres.url, options);
    running.push(() => program.stop());
    const origin = `http://localhost:${port}`;
    const { token, place } = await prepare(origin, postgres.url);
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    running.push(() => client.end());
    const [projectId, collectionId] = place.map(Number);
    await work({
      origin,
      databaseUrl: postgres.url,
      client,
      program,
      token,
      running,
      place: { projectId: projectId ?? 0, collectionId: collectionId ?? 0 },
    });
  } finally {
    for (const stop of running.reverse()) await stop();
    await rm(folder, { recursive: true, force: true });
  }
};

interface ListedCollection {
  name: string;
  indexes: { field: string; state: string }[];
  search: { state: string } | null;
}

const control = (origin: string) => apiAt(`${origin}/api/platform/projects/demo`);
const token = operatorToken;

/** An index takes a minute or two for 100,000 records, and some times longer where others use the machine. */
const patienceMs = 900_000;

const waitForCollection = async (
  origin: string,
  collection: string,
  isReady: (listed: ListedCollection) => boolean,
) => {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const { status, body } = await control(origin)('GET', '/collections', { token });
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
    const items: ListedCollection[] = body.items;
    const listed = items.find(({ name }) => name === collection);
    if (listed && isReady(listed)) return;
    const seen = JSON.stringify({ indexes: listed?.indexes, search: listed?.search });
    if (listed?.search?.state === 'failed') throw new Error(`${collection}: ${seen}`);
    if (performance.now() > untilMs)
      throw new Error(`${collection}: not ready within ${patienceMs / 1000} s: ${seen}`);
    await pause(500);
  }
};

/**
 * Asks for indexes of a collection of `demo` and waits until they are there.
 * @returns false where collections take none
 */
export const index = async (
  origin: string,
  collection: string,
  fields: readonly string[],
): Promise<boolean> => {
  const body = { indexes: fields };
  const asked = await control(origin)('PUT', `/collections/${collection}`, { token, body });
  if (asked.status === 400) return false;
  await waitForCollection(origin, collection, ({ indexes }) =>
    fields.every((field) => indexes.some((each) => each.field === field && each.state === 'ready')),
  );
  return true;
};

/** Switches search on for a collection of `demo` and waits until its words are there. */
export const searchBy = async (
  origin: string,
  collection: string,
  search: readonly string[],
): Promise<void> => {
  const body = { search };
  const asked = await control(origin)('PUT', `/collections/${collection}`, { token, body });
  if (asked.status !== 200) throw new Error(`${asked.status}: ${JSON.stringify(asked.body)}`);
  await waitForCollection(origin, collection, ({ search }) => search?.state === 'ready');
};
