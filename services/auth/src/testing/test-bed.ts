import {
  type ProjectDirectory,
  type ProjectSnapshot,
  platformProject,
  type ServiceOperations,
  type SessionSnapshot,
  type User,
} from '@backlot/contract';
import type { Identity, IdentityProject } from '@backlot/identity';
import type { GuardedFetch } from '@backlot/outgoing';
import type { ServiceOf } from '@backlot/service';
import { createLogger } from '@backlot/telemetry';
import {
  anonymous,
  asUser,
  createServiceBed,
  createTestClock,
  type ServiceBed,
  serveForTest,
  type TestAnswer,
  testProject,
} from '@backlot/testing';
import jwt from 'jsonwebtoken';
import { type AuthConfig, authConfig } from '../config.ts';
import { createArgon2Hasher, type PasswordHasher } from '../passwords/passwords.ts';
import { authService } from '../service.ts';

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

type AuthService = ServiceOf<typeof authService>;

type SignIn = (
  person: { email: string; password: string },
  ip?: string,
  project?: IdentityProject,
) => Promise<TestAnswer>;

/** Another process on the same database, started and listening. */
export interface Process {
  operations: ServiceOperations;
  signIn: SignIn;
  /** Ids of the keys that it publishes. */
  kids(): Promise<string[]>;
  ready: AuthService['ready'];
  /** What it has logged of its master keys. */
  logged: string[];
  stop(): Promise<void>;
}

/** The service on a database of its own, with cheap hashes and a clock that only `pass` moves. */
export interface TestBed extends Omit<ServiceBed<object>, 'service' | 'another'> {
  service: AuthService;
  config: AuthConfig;
  /** What the projects service says of projects, by their ids. */
  snapshots: Map<string, Partial<ProjectSnapshot>>;
  /** How often the hasher ran. */
  hashed: { hash: number; verify: number };
  /** Another process that neither starts nor listens. */
  another(changes?: Partial<AuthConfig>): AuthService;
  startProcess(changes: Partial<AuthConfig>): Promise<Process>;
  signUp(person?: NewPerson): Promise<Person>;
  signIn: SignIn;
  /** What the gateway makes of the token. */
  readIdentity(token: string, project?: IdentityProject): Identity;
  /** What the gateway learns of a session. */
  findSession(id: string | null, project?: IdentityProject): Promise<SessionSnapshot | null>;
  /** The token of the last mail stored for publishing; empties the list. */
  mailedToken(): Promise<string>;
}

export interface TestBedOptions {
  config?: Partial<AuthConfig>;
  limits?: Partial<AuthConfig['limits']>;
  hasher?: PasswordHasher;
  /** What providers answer, in the place of the network. */
  askProviders?: GuardedFetch;
  /** Told of every statement that the service sends. */
  onStatement?: (text: string) => void;
}

const standardConfig: AuthConfig = {
  ...authConfig.read({
    BACKLOT_AUTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BACKLOT_SECRETS_KEYS: Buffer.alloc(32, 8).toString('base64'),
  }),
  argon2: { memoryKib: 64, passes: 1, lanes: 1 },
  hashing: { concurrency: 2, queueLength: 1000 },
};

/** Tests say themselves where work is to be asked for. */
const withoutProofs = (limits: AuthConfig['limits']): AuthConfig['limits'] => ({
  ...limits,
  signInPerIp: { ...limits.signInPerIp, proofFrom: undefined },
  signUpPerIp: { ...limits.signUpPerIp, proofFrom: undefined },
  ownerSignUpPerIp: { ...limits.ownerSignUpPerIp, proofFrom: undefined },
});

const createSignIn =
  (call: ServiceBed<object>['call']): SignIn =>
  ({ email, password }, ip = '192.0.2.1', project = testProject) =>
    call('POST', '/auth/signin', {
      identity: anonymous({ project, ip }),
      body: { email, password },
    });

let people = 0;

export const createTestBed = async (options: TestBedOptions = {}): Promise<TestBed> => {
  const config: AuthConfig = {
    ...standardConfig,
    ...options.config,
    limits: { ...withoutProofs(standardConfig.limits), ...options.limits },
  };
  const hashed = { hash: 0, verify: 0 };
  const createHasher = ({ argon2 }: AuthConfig): PasswordHasher => {
    const hasher = options.hasher ?? createArgon2Hasher(argon2);
    return {
      isOutdated: hasher.isOutdated,
      hash(password) {
        hashed.hash++;
        return hasher.hash(password);
      },
      verify(hash, password) {
        hashed.verify++;
        return hasher.verify(hash, password);
      },
    };
  };
  const snapshots: TestBed['snapshots'] = new Map();
  const projects: ProjectDirectory = {
    findProject: async (id) =>
      ({ ...testProject, id, status: 'active', settings: {}, ...snapshots.get(id) }) as never,
    findKey: async () => null,
  };
  const bed = await createServiceBed(
    authService,
    {
      config,
      projects,
      hasher: createHasher(config),
      ...(options.askProviders && { askProviders: options.askProviders }),
    },
    {
      clock: createTestClock({ stands: true }),
      ...(options.onStatement && { onStatement: options.onStatement }),
    },
  );
  const readIdentity: TestBed['readIdentity'] = (token, project = testProject) => {
    const claims = jwt.decode(token, { json: true });
    if (!claims?.sub) throw new Error('no token');
    return asUser(claims.sub, { project, sessionId: String(claims.sid) });
  };
  const withChanges = (changes: Partial<AuthConfig> = {}) => {
    const changed = { ...config, ...changes };
    return { config: changed, hasher: createHasher(changed) };
  };
  const processes: Process[] = [];

  return {
    ...bed,
    config,
    snapshots,
    hashed,
    readIdentity,
    signIn: createSignIn(bed.call),
    another: (changes) => bed.another(withChanges(changes)),
    async startProcess(changes) {
      const logged: string[] = [];
      const log = createLogger({
        service: 'auth',
        level: 'warn',
        destination: {
          write: (line) =>
            void (/BACKLOT_(AUTH_MASTER_KEY|SECRETS_KEYS)/.test(line) && logged.push(line)),
        },
      });
      const service = bed.another({ ...withChanges(changes), log });
      const http = await serveForTest(service.app, bed.clock.now);
      const process: Process = {
        signIn: createSignIn(http.call),
        logged,
        ready: service.ready,
        operations: service.operations,
        kids: async () => (await service.directories.sessions.jwks()).keys.map(({ kid }) => kid),
        async stop() {
          await service.stop();
          await http.stop();
        },
      };
      processes.push(process);
      await service.start();
      return process;
    },
    async signUp({
      email = `person${++people}@example.org`,
      password = goodPassword,
      name,
      project = testProject,
      ip = '192.0.2.1',
    } = {}) {
      const { status, body } = await bed.call('POST', '/auth/signup', {
        identity: anonymous({ project, ip }),
        body: { email, password, name },
      });
      if (status !== 201) throw new Error(`sign-up answered ${status}: ${JSON.stringify(body)}`);
      const identity = { ...readIdentity(body.token, project), ip };
      const { token, user } = body;
      return { email, password, token, user, sessionId: String(identity.sessionId), identity };
    },
    findSession: (id, project = testProject) =>
      bed.service.directories.sessions.findSession(project.number, String(id)),
    async mailedToken() {
      const mail = (await bed.take('mail.requested')).at(-1);
      if (!mail) throw new Error('no mail');
      return mail.token;
    },
    async close() {
      for (const process of processes) await process.stop();
      await bed.close();
    },
  };
};
