import { fileURLToPath } from 'node:url';
import { type Bus, createInProcessBus } from '@backlot/bus';
import { events, type Payload } from '@backlot/contract';
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
  testIdentitySecret,
} from '@backlot/testing';
import type { AiConfig } from './config.ts';
import { createJsonSchemas } from './json-schema/json-schemas.ts';
import { createDemoProvider } from './model-provider/demo.ts';
import type { ModelProvider } from './model-provider/model-provider.ts';
import { type AiService, createAiService } from './service.ts';

export const callId = '018f0000-0000-7000-8000-0000000000c1';

/** A caller without credentials for whom the gateway has reserved so much; null makes the call free. */
export const reserved = (millicredits: number | null): Identity =>
  anonymous({ reservation: millicredits === null ? null : { callId, millicredits } });

export interface TestBed {
  service: AiService;
  http: ServiceUnderTest;
  /** POST /ai with 10,000 milli-credits reserved unless stated. */
  ask(
    body: unknown,
    options?: { identity?: Identity; headers?: Record<string, string> },
  ): Promise<TestAnswer>;
  /** The same, answered as soon as the head is there; `signal` is a caller who goes. */
  open(
    body: unknown,
    options?: { identity?: Identity; headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Response>;
  database: Database;
  bus: Bus;
  /** Lines of the log. */
  faults: string[];
  /** What was stored for the ledger; empties the list. */
  takeUsage(): Promise<Payload<'usage.recorded'>[]>;
  /** The next call's model; the demo without it. */
  useProvider(provider: ModelProvider): void;
  close(): Promise<void>;
}

export const createTestBed = async ({
  now = Date.now,
  ...config
}: Partial<AiConfig> & { now?: () => number } = {}): Promise<TestBed> => {
  const testDatabase = await createTestDatabase();
  const place = { url: testDatabase.url, schema: 'ai' };
  await migrate({ ...place, directory: fileURLToPath(new URL('../migrations', import.meta.url)) });
  const database = createDatabase(place);
  const bus = createInProcessBus({ onDead: () => {} });
  const schemas = createJsonSchemas();
  const faults: string[] = [];
  const demo = createDemoProvider(schemas);
  let provider = demo;
  const service = createAiService({
    database,
    bus,
    identitySecret: testIdentitySecret,
    now,
    log: createLogger({
      service: 'ai',
      level: 'error',
      destination: { write: (line) => faults.push(line) },
    }),
    config: {
      answerTimeoutMs: 60_000,
      maxCalls: 100,
      models: [],
      masterKeys: [Buffer.alloc(32, 1)],
      provider: { kind: 'demo' },
      ...config,
    },
    checkResponses: true,
    provider: {
      get takesChoices() {
        return provider.takesChoices;
      },
      promptTokensAtMost: (prompt) => provider.promptTokensAtMost(prompt),
      complete: (request) => provider.complete(request),
      stream: (request) => provider.stream(request),
      checkKey: (apiKey, signal) => provider.checkKey(apiKey, signal),
    },
    schemas,
  });
  const http = await serveForTest(service.app);
  return {
    service,
    http,
    ask(body, { identity = reserved(10_000), headers = {} } = {}) {
      const header = { [identityHeader]: signed(identity, now()) };
      return http.call('POST', '/ai', { headers: { ...header, ...headers }, body });
    },
    open: (body, { identity = reserved(10_000), headers = {}, signal } = {}) =>
      fetch(`${http.url}/ai`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          [identityHeader]: signed(identity, now()),
          ...headers,
        },
        body: JSON.stringify(body),
        signal: signal ?? null,
      }),
    database,
    bus,
    faults,
    async takeUsage() {
      const rows = await database.query<{ topic: string; payload: unknown }>(
        'WITH taken AS (DELETE FROM outbox RETURNING *) SELECT topic, payload FROM taken ORDER BY id',
      );
      return rows.map(({ topic, payload }) => {
        if (topic !== 'usage.recorded') throw new Error(`an event of topic ${topic}`);
        return events[topic].parse(payload);
      });
    },
    useProvider(next) {
      provider = next;
    },
    async close() {
      await http.stop();
      for (const each of [schemas, database, bus]) await each.close();
      await testDatabase.drop();
    },
  };
};
