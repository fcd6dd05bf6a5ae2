import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareDatabase } from '@backlot/all-in-one';
import { identityHeader } from '@backlot/identity';
import { findFreePort } from '@backlot/local-servers';
import {
  asOwner,
  createTestBroker,
  findTestRoute,
  signed,
  testIdentityKeysSetting,
  until,
} from '@backlot/testing';
import pg from 'pg';
import { startKeptPostgres } from './kept-postgres.ts';
import { startProcess, type Victim } from './os-process.ts';

export interface RecordsUnderTest {
  /** As the owner of the test project. Without an answer the status is 0. */
  call(method: string, path: string, body?: object): Promise<Answer>;
  /** Looks into the schema `records`, over a connection of its own. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs the statement in a transaction that stays open; the answer ends it. */
  hold(text: string, values?: readonly unknown[]): Promise<() => Promise<void>>;
  /** Resolves when a statement LIKE this waits for a lock, or, to 'over', once none will. */
  untilWaits(statement: string, isOver?: () => Promise<boolean>): Promise<'waits' | 'over'>;
  /** Kills it, runs the work, starts it again; resolves when the service answers. */
  crash(name: RecordsVictim, whileAway?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

export const recordsVictims = ['process', 'postgres'] as const;
export type RecordsVictim = (typeof recordsVictims)[number];

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

/** The records service as a process of its own, over a PostgreSQL whose commits survive its crash. */
export const startRecordsUnderTest = async (
  settings: Record<string, string> = {},
): Promise<RecordsUnderTest> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-survival-'));
  const postgres = await startKeptPostgres(join(folder, 'postgres'));
  const broker = await createTestBroker();
  const databaseUrls = await prepareDatabase(postgres.url, console.warn);
  const process = await startProcess({
    entry: new URL('../../../services/records/src/main.ts', import.meta.url),
    port: await findFreePort(23_000 + Math.floor(Math.random() * 4_000)),
    logFile: join(folder, 'records.log'),
    env: {
      BACKLOT_LOG_LEVEL: 'warn',
      DATABASE_URL: databaseUrls.records,
      AMQP_URL: broker.url,
      BACKLOT_AUTH_ORIGIN: 'http://127.0.0.1:9',
      BACKLOT_IDENTITY_KEYS: testIdentityKeysSetting('records'),
      ...settings,
    },
  });
  const connect = async () => {
    const client = new pg.Client({
      connectionString: postgres.url,
      options: '-c search_path=records',
    });
    // The server may be killed while a test holds a connection to it.
    client.on('error', () => {});
    await client.connect();
    return client;
  };

  const victims: Record<RecordsVictim, Victim> = { process, postgres };
  const stack: RecordsUnderTest = {
    untilWaits(statement, isOver = async () => false) {
      const look = async () => {
        const text = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`;
        if ((await stack.query(text, [statement])).length > 0) return 'waits';
        return (await isOver()) && 'over';
      };
      return until(look, { what: `a statement that waits: ${statement}` });
    },
    async crash(name, whileAway = async () => {}) {
      await victims[name].kill();
      await whileAway();
      await victims[name].restart();
      const isUp = async () => (await stack.call('GET', '/db/things/_count')).status === 200;
      await until(isUp, { what: `recovery from the loss of ${name}` });
    },
    async call(method, path, body) {
      const identity = signed(asOwner(), findTestRoute(method, path));
      const headers = { 'content-type': 'application/json', [identityHeader]: identity };
      const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      try {
        const answer = await fetch(process.url + path, request);
        return { status: answer.status, body: await answer.json() };
      } catch {
        return { status: 0, body: null };
      }
    },
    async query<Row extends object>(text: string, values: readonly unknown[] = []) {
      const client = await connect();
      try {
        return (await client.query<Row>(text, [...values])).rows;
      } finally {
        await client.end();
      }
    },
    async hold(text, values = []) {
      const client = await connect();
      await client.query('BEGIN');
      await client.query(text, [...values]);
      return async () => {
        await client.query('ROLLBACK').catch(() => {});
        await client.end().catch(() => {});
      };
    },
    async stop() {
      await process.stop();
      await postgres.stop();
      await broker.drop();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return stack;
};
