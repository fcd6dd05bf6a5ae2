import { type Bus, createInProcessBus } from '@backlot/bus';
import { events, type Payload, type Topic } from '@backlot/contract';
import { createDatabase, type Database } from '@backlot/database';
import {
  createService,
  type Service,
  type ServiceContext,
  type ServiceDefinition,
  type ServiceDeps,
} from '@backlot/service';
import { createLogger, type Logger, Registry } from '@backlot/telemetry';
import { anonymous, testIdentityKeys } from './identities.ts';
import { createServiceDatabase, migrateForService } from './service-database.ts';
import {
  type ServiceUnderTest,
  serveForTest,
  type TestAnswer,
  type TestRequest,
} from './service-under-test.ts';

/** On a busy machine many calls at once wait longer for a connection, and for each other, than 3 and 5 s. */
const patienceMs = 20_000;

/** What the bed brings to every service. */
type Provided = 'database' | 'bus' | 'identityKeys' | 'now' | 'log' | 'checkResponses';

export interface BedOptions {
  /** One that runs unless another is given. */
  clock?: TestClock;
  bus?: Bus;
  /** The database of another bed, for a further process of the same service. */
  databaseUrl?: string;
  /** Told of every statement that the service itself sends, with the name of a prepared one. */
  onStatement?: (text: string, name?: string) => void;
}

export interface TestClock {
  /** Epoch milliseconds. */
  now(): number;
  pass(ms: number): void;
}

/** A service on a database of its own: what tests of every service share. */
export interface ServiceBed<Api extends object, Own = never> {
  service: Service & Api;
  http: ServiceUnderTest;
  /** Calls as the gateway would, anonymously unless stated; null sends no identity. */
  call(method: string, path: string, request?: TestRequest): Promise<TestAnswer>;
  /** With the service's own role, and the rows of all projects. */
  database: Database;
  /** Of the role that owns everything. */
  databaseUrl: string;
  /** With that role, for what a service may not do. */
  ownerDatabase: Database;
  bus: Bus;
  clock: TestClock;
  /** Error lines of the service's log. */
  errors: string[];
  /** The service's metrics. */
  registry: Registry;
  /** Payloads of this topic that are stored for the bus, oldest first; nothing stays stored. */
  take<T extends Topic>(topic: T): Promise<Payload<T>[]>;
  /** Everything else that is stored for the bus, oldest first, but lines of the audit log; nothing stays stored. */
  takeEvents(): Promise<{ topic: string; payload: unknown }[]>;
  /** A further process on the same database, bus and clock; it does not listen. */
  another(changes?: Partial<Own> & { log?: Logger }): Service & Api;
  /** Ends as a process that is killed: nothing under way is waited for. */
  kill(): Promise<void>;
  /** Stops what was started, and drops the database. */
  close(): Promise<void>;
}

/** The same database, as a test looks at it: with the rows of all projects. */
const acrossProjects = (database: Database): Database => ({
  ...database,
  query: (...call) => database.acrossProjects(() => database.query(...call)),
  execute: (...call) => database.acrossProjects(() => database.execute(...call)),
  scan: (...call) => database.acrossProjects(() => database.scan(...call)),
  named: (...call) => database.acrossProjects(() => database.named(...call)),
  read: (...call) => database.acrossProjects(() => database.read(...call)),
  transaction: (...call) => database.acrossProjects(() => database.transaction(...call)),
});

/** The database itself, and what is replaced in it, behind one that tells of each statement. */
const watched = (
  database: Database,
  onStatement: NonNullable<BedOptions['onStatement']>,
): Database => {
  const own: Pick<Database, 'query' | 'execute' | 'scan' | 'named' | 'read'> = {
    query(text, values) {
      onStatement(text);
      return database.query(text, values);
    },
    execute(text, values) {
      onStatement(text);
      return database.execute(text, values);
    },
    scan(text, values) {
      onStatement(text);
      return database.scan(text, values);
    },
    named(name, text, values) {
      onStatement(text, name);
      return database.named(name, text, values);
    },
    read(name, text, values) {
      onStatement(text, name);
      return database.read(name, text, values);
    },
  };
  return Object.assign(Object.create(database) as Database, own);
};

/** @param stands whether only `pass` moves it */
export const createTestClock = ({ stands = false } = {}): TestClock => {
  const startedAt = Date.now();
  let passedMs = 0;
  return {
    now: () => (stands ? startedAt : Date.now()) + passedMs,
    pass(ms) {
      passedMs += ms;
    },
  };
};

/** @param own config, adapters and directories of the service */
export const createServiceBed = async <
  Config,
  Context extends ServiceContext<Config>,
  Api extends object,
>(
  definition: ServiceDefinition<Config, Context, Api>,
  own: Omit<ServiceDeps<Config, Context>, Provided>,
  options: BedOptions = {},
): Promise<ServiceBed<Api, typeof own>> => {
  const ownDatabase =
    options.databaseUrl === undefined ? await createServiceDatabase(definition) : undefined;
  const databaseUrl = options.databaseUrl ?? ownDatabase?.ownerUrl ?? '';
  const url = ownDatabase?.url ?? (await migrateForService(databaseUrl, definition));
  const schema = definition.name;
  const patience = { statementTimeoutMs: patienceMs, acquireTimeoutMs: patienceMs };
  const database = createDatabase({ url, schema, ...patience });
  const ownerDatabase = createDatabase({ url: databaseUrl, schema, poolSize: 1, ...patience });
  const { clock = createTestClock(), bus = createInProcessBus({ onDead: () => {} }) } = options;
  const errors: string[] = [];
  const shared = {
    database: options.onStatement ? watched(database, options.onStatement) : database,
    bus,
    identityKeys: testIdentityKeys(definition.name),
    now: clock.now,
    log: createLogger({
      service: definition.name,
      level: 'error',
      destination: { write: (line) => errors.push(line) },
    }),
    checkResponses: true,
  };
  const create = (deps: object) =>
    createService(definition, deps as unknown as ServiceDeps<Config, Context>);
  const another = (changes: Partial<typeof own> & { log?: Logger } = {}) =>
    create({ ...shared, ...own, ...changes });
  const registry = new Registry();
  const service = create({ ...shared, registry, ...own });
  const http = await serveForTest(service.app, clock.now);
  const takeAll = () =>
    database.query<{ topic: string; payload: unknown }>(
      'WITH taken AS (DELETE FROM outbox RETURNING *) SELECT topic, payload FROM taken ORDER BY id',
    );
  const takeEvents = async () =>
    (await takeAll()).filter(({ topic }) => topic !== 'platform.acted');
  return {
    service,
    http,
    call: (method, path, request = {}) =>
      http.call(method, path, { identity: anonymous(), ...request }),
    database: definition.hasNoRowSecurity ? database : acrossProjects(database),
    databaseUrl,
    ownerDatabase,
    bus,
    clock,
    errors,
    registry,
    takeEvents,
    async take(topic) {
      const stored = await takeAll();
      return stored
        .filter((event) => event.topic === topic)
        .map(({ payload }) => events[topic].parse(payload) as Payload<typeof topic>);
    },
    another,
    async kill() {
      await http.stop();
      await Promise.all([database.close(), ownerDatabase.close()]);
    },
    async close() {
      await http.stop();
      await service.stop();
      if (!options.bus) await bus.close();
      await Promise.all([database.close(), ownerDatabase.close()]);
      await ownDatabase?.drop();
    },
  };
};
