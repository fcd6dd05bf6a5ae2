import { fileURLToPath } from 'node:url';
import { type Bus, createInProcessBus } from '@backlot/bus';
import { events, platformProject, type User } from '@backlot/contract';
import { createDatabase, type Database, migrate } from '@backlot/database';
import { type Identity, type IdentityProject, identityHeader } from '@backlot/identity';
import { createLogger } from '@backlot/telemetry';
import {
  anonymous,
  asUser,
  createTestDatabase,
  type ServiceUnderTest,
  serveForTest,
  signed,
  type TestAnswer,
  type TestRequest,
  testIdentitySecret,
  testProject,
} from '@backlot/testing';
import jwt from 'jsonwebtoken';
import { type AuthConfig, readAuthConfig } from './config.ts';
import { createArgon2Hasher, type PasswordHasher } from './passwords.ts';
import { type AuthService, createAuthService } from './service.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
export const otherProject: IdentityProject = { ...testProject, id: 'otherproject', number: 1002 };
export const platform: IdentityProject = {
  ...platformProject,
  name: 'Backlot',
  ownerId: null,
  settings: {},
};
export const goodPassword = 'correct horse battery staple';

export interface Person {
  email: string;
  password: string;
  token: string;
  user: User;
  sessionId: string;
  /** As the gateway makes it of the token. */
  identity: Identity;
}

export interface NewPerson {
  email?: string;
  password?: string;
  name?: string;
  project?: IdentityProject;
  ip?: string;
}

/** The service on a database of its own, with cheap hashes and a clock that only `pass` moves. */
export interface TestBed {
  service: AuthService;
  config: AuthConfig;
  database: Database;
  bus: Bus;
  http: ServiceUnderTest;
  /** How often the hasher ran. */
  hashed: { hash: number; verify: number };
  now(): number;
  pass(ms: number): void;
  call(method: string, path: string, request?: TestRequest): Promise<TestAnswer>;
  /** Another process on the same database. */
  another(changes?: Partial<AuthConfig>): AuthService;
  /** Another process that listens. */
  restarted(
    changes: Partial<AuthConfig>,
  ): Promise<Pick<TestBed, 'signIn'> & { stop(): Promise<void> }>;
  signUp(person?: NewPerson): Promise<Person>;
  signIn(
    person: { email: string; password: string },
    ip?: string,
    project?: IdentityProject,
  ): Promise<TestAnswer>;
  identityOf(token: string, project?: IdentityProject): Identity;
  /** Topics and payloads stored for publishing; empties the list. */
  takeEvents(): Promise<{ topic: string; payload: unknown }[]>;
  /** The token of the last mail stored for publishing; empties the list. */
  mailedToken(): Promise<string>;
  close(): Promise<void>;
}

export interface TestBedOptions {
  config?: Partial<AuthConfig>;
  limits?: Partial<AuthConfig['limits']>;
  hasher?: PasswordHasher;
}

const standardConfig = readAuthConfig({
  BACKLOT_AUTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  BACKLOT_ARGON2_MEMORY_KIB: '64',
  BACKLOT_ARGON2_PASSES: '1',
  BACKLOT_HASH_QUEUE: '1000',
});

let people = 0;

export const createTestBed = async (options: TestBedOptions = {}): Promise<TestBed> => {
  const testDatabase = await createTestDatabase();
  const directory = fileURLToPath(new URL('../migrations', import.meta.url));
  await migrate({ url: testDatabase.url, schema: 'auth', directory });
  const database = createDatabase({ url: testDatabase.url, schema: 'auth' });
  const bus = createInProcessBus({ onDead: () => {} });
  const config: AuthConfig = {
    ...standardConfig,
    ...options.config,
    limits: { ...standardConfig.limits, ...options.limits },
  };
  let time = Date.now();
  const hashed = { hash: 0, verify: 0 };
  const counted = (hasher: PasswordHasher): PasswordHasher => ({
    isOutdated: hasher.isOutdated,
    hash(password) {
      hashed.hash++;
      return hasher.hash(password);
    },
    verify(hash, password) {
      hashed.verify++;
      return hasher.verify(hash, password);
    },
  });
  const create = (serviceConfig: AuthConfig) =>
    createAuthService({
      database,
      bus,
      identitySecret: testIdentitySecret,
      now: () => time,
      log: createLogger({ service: 'auth', level: 'silent' }),
      config: serviceConfig,
      checkResponses: true,
      hasher: counted(options.hasher ?? createArgon2Hasher(serviceConfig.argon2)),
    });
  const service = create(config);
  const http = await serveForTest(service.app);

  const bed: TestBed = {
    service,
    config,
    database,
    bus,
    http,
    hashed,
    now: () => time,
    pass(ms) {
      time += ms;
    },
    call(method, path, { identity = null, headers = {}, ...request } = {}) {
      const vouched = identity ? { [identityHeader]: signed(identity, time) } : {};
      return http.call(method, path, { ...request, headers: { ...vouched, ...headers } });
    },
    another: (changes = {}) => create({ ...config, ...changes }),
    async restarted(changes) {
      const other = await serveForTest(bed.another(changes).app);
      return {
        stop: other.stop,
        signIn: ({ email, password }, ip = '192.0.2.1', project = testProject) =>
          other.call('POST', '/auth/signin', {
            headers: { [identityHeader]: signed(anonymous({ project, ip }), time) },
            body: { email, password },
          }),
      };
    },
    async signUp({
      email,
      password = goodPassword,
      name,
      project = testProject,
      ip = '192.0.2.1',
    } = {}) {
      const address = email ?? `person${++people}@example.org`;
      const { status, body } = await bed.call('POST', '/auth/signup', {
        identity: anonymous({ project, ip }),
        body: { email: address, password, name },
      });
      if (status !== 201) throw new Error(`sign-up answered ${status}: ${JSON.stringify(body)}`);
      const identity = { ...bed.identityOf(body.token, project), ip };
      return {
        email: address,
        password,
        token: body.token,
        user: body.user,
        sessionId: String(identity.sessionId),
        identity,
      };
    },
    signIn: ({ email, password }, ip = '192.0.2.1', project = testProject) =>
      bed.call('POST', '/auth/signin', {
        identity: anonymous({ project, ip }),
        body: { email, password },
      }),
    identityOf(token, project = testProject) {
      const claims = jwt.decode(token, { json: true });
      if (!claims?.sub) throw new Error('no token');
      return asUser(claims.sub, { project, sessionId: String(claims.sid) });
    },
    takeEvents: () =>
      database.query(
        'WITH taken AS (DELETE FROM outbox RETURNING *) SELECT topic, payload FROM taken ORDER BY id',
      ),
    async mailedToken() {
      const mails = (await bed.takeEvents()).filter(({ topic }) => topic === 'mail.requested');
      return events['mail.requested'].parse(mails.at(-1)?.payload).token;
    },
    async close() {
      await http.stop();
      await database.close();
      await bus.close();
      await testDatabase.drop();
    },
  };
  return bed;
};
