import { type Bus, type BusEvent, createInProcessBus } from '@backlot/bus';
import { defaultLimits, events, platformProject } from '@backlot/contract';
import { createMemoryCounters } from '@backlot/counters';
import type { Identity, IdentityProject } from '@backlot/identity';
import type { Names } from '@backlot/outgoing';
import type { ServiceOf } from '@backlot/service';
import type { Registry } from '@backlot/telemetry';
import {
  asOperator,
  asOwner,
  createServiceBed,
  createTestClock,
  type ServiceBed,
} from '@backlot/testing';
import type { ProjectsConfig } from '../config.ts';
import type { LedgerCounters } from '../ledger/balance-notifier.ts';
import { projectsService } from '../service.ts';
import { createFakeArchives, type FakeArchives } from './fake-archives.ts';
import { createFakeOperations, type FakeOperations } from './fake-operations.ts';
import { createFakeParts, type FakeParts } from './fake-parts.ts';

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
  redisUrl: undefined,
  masterKeys: [Buffer.alloc(32, 1)],
  webhooksToLoopback: true,
  webhookTimeoutMs: 10_000,
  isOwnerVerificationOn: false,
  maxProjectsPerOwner: 1000,
  maxKeysPerProject: 100,
  restoreDays: 30,
  monthlyCredits: 0,
  reconcileSeconds: 60,
  backupHours: 26,
  priceChanges: {},
  projectHostSuffix: undefined,
  defaultLimits,
};

/** The service on a database of its own, with a clock that only `pass` moves. */
export interface TestBed extends Omit<ServiceBed<object>, 'service' | 'another'> {
  service: ServiceOf<typeof projectsService>;
  /** A further process on the same database, which does not listen. */
  another(): ServiceOf<typeof projectsService>;
  /** With other settings. */
  anotherWith(changes: Partial<ProjectsConfig>): ServiceOf<typeof projectsService>;
  /** Those of the service, in memory; at the test's time. */
  counters: ReturnType<typeof createMemoryCounters>;
  /** What other services keep of what owners set. */
  parts: FakeParts;
  /** What other services keep of what an archive has. */
  archives: FakeArchives;
  /** What the operator does in other services. */
  others: FakeOperations;
  /** What the auth service says of owners. */
  owners: {
    unknown: Set<string>;
    unverified: Set<string>;
    /** Others have one and the same. */
    addresses: Map<string, string>;
    areUnavailable: boolean;
    /** Called at each look-up, before it is answered. */
    onLookUp: () => Promise<void>;
  };
  now(): number;
  /** Moves the clock. */
  pass(ms: number): void;
  /** The identity with which the gateway forwards a call about this project, whoever owns it. */
  owner(ownerId: string, projectId?: string): Promise<Identity>;
  operator(projectId?: string): Promise<Identity>;
  /** A new project of ownerA unless stated; its id. */
  project(ownerId?: string): Promise<string>;
  publish(event: BusEvent): Promise<void>;
  /** What the service itself has published since it was started. */
  published(): readonly BusEvent[];
}

export interface TestBedOptions extends Partial<ProjectsConfig> {
  /** In front of the bed's counters, to fail at will. */
  counters?: (real: LedgerCounters) => LedgerCounters;
  registry?: Registry;
  names?: Names;
  onDead?: (event: BusEvent) => void;
  /** In memory unless given; its test closes it. */
  bus?: Bus;
}

export const createTestBed = async (options: TestBedOptions = {}): Promise<TestBed> => {
  const {
    counters: wrap = (real) => real,
    registry,
    names,
    onDead = () => {},
    bus: givenBus,
    ...changes
  } = options;
  const bus = givenBus ?? createInProcessBus({ onDead, retryDelayMs: 1 });
  const published: BusEvent[] = [];
  await bus.listen(Object.keys(events), (event) => {
    if (event.topic !== 'user.erased' && event.topic !== 'platform.acted') published.push(event);
  });
  const clock = createTestClock({ stands: true });
  const counters = createMemoryCounters(clock.now);
  const owners = {
    unknown: new Set<string>(),
    unverified: new Set<string>(),
    addresses: new Map<string, string>(),
    areUnavailable: false,
    onLookUp: async () => {},
  };
  const accounts = {
    registered: async () => [],
    async findAccount(_projectNumber: number, userId: string) {
      await owners.onLookUp();
      if (owners.areUnavailable) throw new Error('auth is down');
      if (owners.unknown.has(userId)) return null;
      const emailVerified = !owners.unverified.has(userId);
      const email = owners.addresses.get(userId) ?? 'olga@example.org';
      return { email, name: 'Olga', emailVerified };
    },
  };
  const config = { ...testConfig, ...changes };
  const parts = createFakeParts();
  const archives = createFakeArchives();
  const others = createFakeOperations();
  const own = {
    config,
    counters: wrap(counters),
    accounts,
    filters: {
      checkFilter: async (where: object) => ('$bad' in where ? 'it has an operator $bad' : null),
    },
    registry,
    ...parts,
    ...archives,
    ...others,
    ...(names && { names }),
  };
  const base = await createServiceBed(projectsService, own, { bus, clock });

  const target = async (projectId: string | undefined): Promise<IdentityProject> => {
    if (projectId === undefined) return platform;
    const project = await base.service.directories.projects.findProject(projectId);
    if (!project) throw new Error(`no project ${projectId}`);
    return { ...project, settings: { ...project.settings } };
  };
  const bed: TestBed = {
    ...base,
    anotherWith: (settings) => base.another({ config: { ...config, ...settings } }),
    counters,
    parts,
    archives,
    others,
    owners,
    now: clock.now,
    pass: clock.pass,
    owner: async (ownerId, projectId) =>
      asOwner({ userId: ownerId, project: await target(projectId) }),
    operator: async (projectId) => asOperator({ project: await target(projectId) }),
    async project(ownerId = ownerA) {
      const { body } = await base.call('POST', '/platform/projects', {
        identity: await bed.owner(ownerId),
        body: { name: 'A project' },
      });
      return String(body.id);
    },
    publish: (event) => bus.publish(event),
    published: () => published,
    async close() {
      await base.close();
      if (!givenBus) await bus.close();
    },
  };
  return bed;
};
