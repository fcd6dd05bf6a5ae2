import { fileURLToPath } from 'node:url';
import { type Bus, createInProcessBus } from '@backlot/bus';
import { events, type Mail, type Payload, type ProjectSnapshot } from '@backlot/contract';
import { createDatabase, type Database, migrate } from '@backlot/database';
import { type Identity, identityHeader } from '@backlot/identity';
import { createLogger } from '@backlot/telemetry';
import {
  anonymous,
  asOwner,
  createTestDatabase,
  type ServiceUnderTest,
  serveForTest,
  signed,
  type TestAnswer,
  type TestRequest,
  testIdentitySecret,
  testProject,
} from '@backlot/testing';
import { type EmailConfig, parseConfig } from './config.ts';
import { createDevMailbox } from './mailer/dev-mailbox.ts';
import type { Delivery, Mailer, OutgoingMail } from './mailer/mailer.ts';
import { createEmailService, type EmailService } from './service.ts';

export const callId = '018f0000-0000-7000-8000-0000000000c1';
export const ownerAddress = 'owner@example.org';

/** A caller without credentials for whom the gateway has reserved so much; null makes the call free. */
export const reserved = (millicredits: number | null): Identity =>
  anonymous({ reservation: millicredits === null ? null : { callId, millicredits } });

export const projectSnapshot: Omit<ProjectSnapshot, 'limits'> = {
  ...testProject,
  status: 'active',
  settings: {},
};

export interface FakeMailer extends Mailer {
  /** What was handed over, in order. */
  sent: OutgoingMail[];
  /** How the next mails end; `sent` to everybody without it. */
  answer: (mail: OutgoingMail) => Promise<Delivery>;
}

/** A provider that takes everything, or does what a test says. */
export const createFakeMailer = (): FakeMailer => {
  const fake: FakeMailer = {
    reachesPeople: true,
    sent: [],
    answer: async () => ({ status: 'sent', refused: [] }),
    async send(mail, handOver) {
      await handOver();
      fake.sent.push(mail);
      return fake.answer(mail);
    },
    async close() {},
  };
  return fake;
};

export interface TestBedOptions {
  mailer?: Mailer;
  config?: Partial<EmailConfig>;
  bus?: Bus;
  /** Another service on the database of this bed. */
  beside?: TestBed;
}

export interface TestBed {
  service: EmailService;
  http: ServiceUnderTest;
  bus: Bus;
  database: Database;
  databaseUrl: string;
  /** Changes what the projects service tells of the test project. */
  setProject(changes: Partial<typeof projectSnapshot>): void;
  /** Addresses with an account in the test project. */
  users: Set<string>;
  /** Epoch milliseconds of the service's clock. */
  clock: { now: number };
  call(
    method: string,
    path: string,
    identity: Identity,
    request?: TestRequest,
  ): Promise<TestAnswer>;
  /** POST /email/send with 10,000 milli-credits reserved unless stated. */
  send(
    body: unknown,
    options?: { identity?: Identity; headers?: Record<string, string> },
  ): Promise<TestAnswer>;
  /** As the owner sees them, newest first. */
  list(query?: string): Promise<Mail[]>;
  /** What was stored for the ledger; empties the outbox. */
  takeUsage(): Promise<Payload<'usage.recorded'>[]>;
  /** Ends as a process that is killed: nothing under way is waited for. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export const createTestBed = async (options: TestBedOptions = {}): Promise<TestBed> => {
  const testDatabase = options.beside ? undefined : await createTestDatabase();
  const databaseUrl = options.beside?.databaseUrl ?? testDatabase?.url ?? '';
  const place = { url: databaseUrl, schema: 'email' };
  await migrate({ ...place, directory: fileURLToPath(new URL('../migrations', import.meta.url)) });
  const database = createDatabase(place);
  const bus = options.bus ?? createInProcessBus({ onDead: () => {} });
  const clock = options.beside?.clock ?? { now: Date.now() };
  const users = new Set<string>();
  let project = projectSnapshot;
  const service = createEmailService({
    database,
    bus,
    identitySecret: testIdentitySecret,
    now: () => clock.now,
    log: createLogger({ service: 'email', level: 'silent' }),
    config: { ...parseConfig({}), ratePerSecond: 10_000, ...options.config },
    mailer: options.mailer ?? createDevMailbox(),
    checkResponses: true,
    projects: {
      findProject: async (id) =>
        id === project.id ? { ...project, limits: {} as ProjectSnapshot['limits'] } : null,
      findKey: async () => null,
    },
    accounts: {
      registered: async (number, emails) =>
        number === project.number ? emails.filter((each) => users.has(each)) : [],
      findAccount: async (number, id) =>
        number === 1 && id === project.ownerId ? { email: ownerAddress, name: 'Olga' } : null,
    },
  });
  const http = await serveForTest(service.app);
  const call: TestBed['call'] = (method, path, identity, { headers = {}, ...request } = {}) =>
    http.call(method, path, {
      ...request,
      headers: { [identityHeader]: signed(identity, clock.now), ...headers },
    });
  return {
    service,
    http,
    bus,
    database,
    databaseUrl,
    users,
    clock,
    call,
    setProject(changes) {
      project = { ...project, ...changes };
    },
    send: (body, { identity = reserved(10_000), headers = {} } = {}) =>
      call('POST', '/email/send', identity, { headers, body }),
    async list(query = '') {
      const path = `/platform/projects/${testProject.id}/emails${query}`;
      const { body } = await call('GET', path, asOwner());
      return body.items;
    },
    async takeUsage() {
      const rows = await database.query<{ topic: string; payload: unknown }>(
        'WITH taken AS (DELETE FROM outbox RETURNING *) SELECT topic, payload FROM taken ORDER BY id',
      );
      return rows
        .filter(({ topic }) => topic === 'usage.recorded')
        .map(({ payload }) => events['usage.recorded'].parse(payload));
    },
    async kill() {
      await http.stop();
      await database.close();
    },
    async close() {
      await http.stop();
      await service.stop();
      if (!options.bus) await bus.close();
      await database.close();
      await testDatabase?.drop();
    },
  };
};
