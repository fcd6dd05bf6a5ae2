import { fileURLToPath } from 'node:url';
import { type BusEvent, createInProcessBus } from '@backlot/bus';
import { defaultLimits, events, platformProject } from '@backlot/contract';
import { createMemoryCounters } from '@backlot/counters';
import { createDatabase, type Database, migrate } from '@backlot/database';
import { type Identity, type IdentityProject, identityHeader } from '@backlot/identity';
import { createLogger, type Registry } from '@backlot/telemetry';
import {
  asOperator,
  asOwner,
  createTestDatabase,
  type ServiceUnderTest,
  serveForTest,
  signed,
  type TestAnswer,
  type TestRequest,
  testIdentitySecret,
} from '@backlot/testing';
import type { ProjectsConfig } from './config.ts';
import type { LedgerCounters } from './ledger/telling.ts';
import { createProjectsService, type ProjectsService } from './service.ts';

export const ownerA = '018f0000-0000-7000-8000-0000000000a1';
export const ownerB = '018f0000-0000-7000-8000-0000000000b1';
export const dayMs = 24 * 60 * 60 * 1000;

export const platform: IdentityProject = {
  ...platformProject,
  name: 'Backlot',
  ownerId: null,
  settings: {},
};

export const testConfig: ProjectsConfig = {
  publicUrl: 'https://backlot.example',
  maxProjectsPerOwner: 1000,
  maxKeysPerProject: 100,
  restoreDays: 30,
  monthlyCredits: 0,
  reconcileSeconds: 60,
  defaultLimits,
};

/** The service on a database of its own, with a clock that only `pass` moves. */
export interface TestBed {
  service: ProjectsService;
  database: Database;
  http: ServiceUnderTest;
  /** Those of the service, in memory; at the test's time. */
  counters: ReturnType<typeof createMemoryCounters>;
  now(): number;
  /** Moves the clock. */
  pass(ms: number): void;
  /** Calls as the gateway would; the identity is signed at the test's time. */
  call(method: string, path: string, request?: TestRequest): Promise<TestAnswer>;
  /** The identity with which the gateway forwards a call about this project, whoever owns it. */
  owner(ownerId: string, projectId?: string): Promise<Identity>;
  operator(projectId?: string): Promise<Identity>;
  /** A new project of ownerA unless stated; its id. */
  project(ownerId?: string): Promise<string>;
  /** Topics and payloads stored for publishing; empties the list. */
  takeEvents(): Promise<{ topic: string; payload: unknown }[]>;
  publish(event: BusEvent): Promise<void>;
  /** What the service itself has published since it was started. */
  published(): readonly BusEvent[];
  close(): Promise<void>;
}

export interface TestBedOptions extends Partial<ProjectsConfig> {
  /** In front of the bed's counters, to fail at will. */
  counters?: (real: LedgerCounters) => LedgerCounters;
  registry?: Registry;
  onDead?: (event: BusEvent) => void;
}

export const createTestBed = async (options: TestBedOptions = {}): Promise<TestBed> => {
  const { counters: wrap = (real) => real, registry, onDead = () => {}, ...changes } = options;
  const testDatabase = await createTestDatabase();
  const directory = fileURLToPath(new URL('../migrations', import.meta.url));
  await migrate({ url: testDatabase.url, schema: 'projects', directory });
  const database = createDatabase({ url: testDatabase.url, schema: 'projects' });
  const bus = createInProcessBus({ onDead, retryDelayMs: 1 });
  const published: BusEvent[] = [];
  await bus.listen(Object.keys(events), (event) => {
    if (event.topic !== 'user.erased') published.push(event);
  });
  let time = Date.now();
  const counters = createMemoryCounters(() => time);
  const service = createProjectsService({
    database,
    bus,
    identitySecret: testIdentitySecret,
    now: () => time,
    log: createLogger({ service: 'projects', level: 'silent' }),
    config: { ...testConfig, ...changes },
    checkResponses: true,
    counters: wrap(counters),
    ...(registry ? { registry } : {}),
  });
  const http = await serveForTest(service.app);

  const target = async (projectId: string | undefined): Promise<IdentityProject> => {
    if (projectId === undefined) return platform;
    const project = await service.directory.findProject(projectId);
    if (!project) throw new Error(`no project ${projectId}`);
    return { ...project, settings: { ...project.settings } };
  };
  const bed: TestBed = {
    service,
    database,
    http,
    counters,
    now: () => time,
    pass(ms) {
      time += ms;
    },
    call(method, path, { identity = null, headers = {}, ...request } = {}) {
      const vouched = identity ? { [identityHeader]: signed(identity, time) } : {};
      return http.call(method, path, { ...request, headers: { ...vouched, ...headers } });
    },
    owner: async (ownerId, projectId) =>
      asOwner({ userId: ownerId, project: await target(projectId) }),
    operator: async (projectId) => asOperator({ project: await target(projectId) }),
    async project(ownerId = ownerA) {
      const identity = await bed.owner(ownerId);
      const { body } = await bed.call('POST', '/platform/projects', {
        identity,
        body: { name: 'A project' },
      });
      return String(body.id);
    },
    takeEvents: () =>
      database.query(
        'WITH taken AS (DELETE FROM outbox RETURNING *) SELECT topic, payload FROM taken ORDER BY id',
      ),
    publish: (event) => bus.publish(event),
    published: () => published,
    async close() {
      await http.stop();
      await database.close();
      await bus.close();
      await testDatabase.drop();
    },
  };
  return bed;
};
