import { fileURLToPath } from 'node:url';
import { createInProcessBus } from '@backlot/bus';
import { createDatabase, type Database, migrate } from '@backlot/database';
import { type Identity, identityHeader } from '@backlot/identity';
import { createLogger } from '@backlot/telemetry';
import {
  anonymous,
  createTestDatabase,
  type ServiceUnderTest,
  serveForTest,
  signed,
  type TestAnswer,
  type TestRequest,
  testIdentitySecret,
} from '@backlot/testing';
import type { ReadLimits } from './read-limits.ts';
import { createRecordsService, type RecordsService } from './service.ts';

export const ada = '018f0000-0000-7000-8000-0000000000a1';
export const bob = '018f0000-0000-7000-8000-0000000000b1';

export interface TestRecords {
  /** Of the database. */
  url: string;
  database: Database;
  close(): Promise<void>;
}

/** The service's schema in a database of its own. */
export const createTestRecords = async (): Promise<TestRecords> => {
  const testDatabase = await createTestDatabase();
  const directory = fileURLToPath(new URL('../migrations', import.meta.url));
  await migrate({ url: testDatabase.url, schema: 'records', directory });
  const database = createDatabase({ url: testDatabase.url, schema: 'records' });
  return {
    url: testDatabase.url,
    database,
    async close() {
      await database.close();
      await testDatabase.drop();
    },
  };
};

/** The service on a database of its own, whose clock `pass` moves on. */
export interface TestBed {
  service: RecordsService;
  /** Of the database. */
  url: string;
  database: Database;
  http: ServiceUnderTest;
  /** Moves the clock. */
  pass(ms: number): void;
  /** Calls as the gateway would, anonymously unless stated. */
  call(method: string, path: string, request?: TestRequest): Promise<TestAnswer>;
  /** Creates a record and returns it. */
  create(
    collection: string,
    data: object,
    identity?: Identity,
  ): Promise<{ id: string } & Record<string, unknown>>;
  close(): Promise<void>;
}

const limits: ReadLimits = { scanRows: 100_000, pageBytes: 32 * 1024 * 1024 };

export const createTestBed = async (changes: Partial<ReadLimits> = {}): Promise<TestBed> => {
  const { url, database, close } = await createTestRecords();
  const bus = createInProcessBus({ onDead: () => {} });
  let passedMs = 0;
  const now = () => Date.now() + passedMs;
  const service = createRecordsService({
    database,
    bus,
    identitySecret: testIdentitySecret,
    now,
    log: createLogger({ service: 'records', level: 'silent' }),
    config: { limits: { ...limits, ...changes } },
    checkResponses: true,
  });
  await service.start();
  const http = await serveForTest(service.app);
  const bed: TestBed = {
    service,
    url,
    database,
    http,
    pass(ms) {
      passedMs += ms;
    },
    call(method, path, { identity = anonymous(), headers = {}, ...request } = {}) {
      const vouched = identity ? { [identityHeader]: signed(identity, now()) } : {};
      return http.call(method, path, { ...request, headers: { ...vouched, ...headers } });
    },
    async create(collection, data, identity = anonymous()) {
      const { status, body } = await bed.call('POST', `/db/${collection}`, {
        identity,
        body: { data },
      });
      if (status !== 201) throw new Error(`not created: ${JSON.stringify(body)}`);
      return body;
    },
    async close() {
      await http.stop();
      await service.stop();
      await bus.close();
      await close();
    },
  };
  return bed;
};
