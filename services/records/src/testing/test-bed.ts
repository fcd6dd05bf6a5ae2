import type {
  AccountDirectory,
  PeopleAsking,
  PeopleDirectory,
  Person,
  RecordDirectory,
  RoleAndGroups,
  UserDirectory,
} from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import {
  anonymous,
  type BedOptions,
  createServiceBed,
  type ServiceBed,
  testProject,
} from '@backlot/testing';
import type { Collection, Collections } from '../collections/collections.ts';
import type { PlaceLimits } from '../collections/table/places.ts';
import type { ReadLimits } from '../query/list-statement.ts';
import type { QuotaLimits } from '../record/quota/quota.ts';
import { createWriteChecks } from '../record/schema/write-checks.ts';
import { recordsService } from '../service.ts';
import { clusterProblems, readCatalog } from './cluster-rules.ts';

export const ada = '018f0000-0000-7000-8000-0000000000a1';
export const bob = '018f0000-0000-7000-8000-0000000000b1';

/** For what is made without the collections' cache: their slots never change. */
export const unchanged: Collections['refresh'] = async (collection) => collection as Collection;

/** For collections without a schema. */
export const checksWithout = (database: Database) =>
  createWriteChecks({
    database,
    collections: { find: async () => null },
    accounts: { findAccount: async () => null },
    now: Date.now,
  });

const defaultLimits: ReadLimits = { scanRows: 100_000, pageBytes: 32 * 1024 * 1024 };

const unlimited = { records: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };

/** What its service has sent is checked when it is closed: a Citus cluster has to take it. */
export interface TestBed
  extends ServiceBed<{
    directories: { records: RecordDirectory };
    reportTraffic(): Promise<void>;
    reportFindings(): Promise<void>;
  }> {
  /** What the accounts' service knows of users, by their ids. */
  people: Map<string, RoleAndGroups>;
  /** What it knows of users of other projects than the tests' own. */
  elsewhere: { find: (id: string) => RoleAndGroups | null };
  /** How users look to others, by their ids; and what was asked for. */
  profiles: Map<string, Person>;
  profilesAsked: PeopleAsking[];
  /** Who has which verified address. */
  holders: Map<string, string>;
  /** Names of users, by their ids. */
  names: Map<string, string>;
  /** Replaced by tests that do something between a question and its answer. */
  onHolderAsked: { run: () => Promise<void> };
  /** Whether its database is a Citus cluster's. */
  isCluster: boolean;
  /** Creates a record and returns it. */
  create(
    collection: string,
    data: object,
    identity?: Identity,
  ): Promise<{ id: string } & Record<string, unknown>>;
}

export const createTestBed = async (
  limits: Partial<ReadLimits> = {},
  quota: Partial<QuotaLimits> = {},
  {
    places = { byVisitors: Number.MAX_SAFE_INTEGER, byUsersAndVisitors: Number.MAX_SAFE_INTEGER },
    ...options
  }: BedOptions & { places?: PlaceLimits } = {},
): Promise<TestBed> => {
  const config = {
    limits: { ...defaultLimits, ...limits },
    scanConcurrency: 1,
    places,
    history: { days: 7, bytes: 1_000_000_000 },
    quota: { project: unlimited, owner: unlimited, ...quota },
  };
  const statements = new Set<string>();
  const onStatement = (text: string, name?: string) => {
    statements.add(text);
    options.onStatement?.(text, name);
  };
  const people: TestBed['people'] = new Map();
  const elsewhere: TestBed['elsewhere'] = { find: () => null };
  const profiles: TestBed['profiles'] = new Map();
  const profilesAsked: TestBed['profilesAsked'] = [];
  const holders: TestBed['holders'] = new Map();
  const names: TestBed['names'] = new Map();
  const onHolderAsked: TestBed['onHolderAsked'] = { run: async () => {} };
  const users: UserDirectory = {
    async findHolder(project, email) {
      const holder = (project === testProject.number && holders.get(email)) || null;
      await onHolderAsked.run();
      return holder;
    },
    findRoleAndGroups: async (project, id) =>
      project === testProject.number ? (people.get(id) ?? null) : elsewhere.find(id),
  };
  const accounts: AccountDirectory = {
    registered: async () => [],
    findAccount: async (project, id) => {
      const name = (project === testProject.number && names.get(id)) || null;
      return { email: `${id}@example.org`, name, emailVerified: true };
    },
  };
  const directory: PeopleDirectory = {
    async findPeople(asking) {
      profilesAsked.push(asking);
      const isHere = asking.projectNumber === testProject.number;
      return asking.ids.flatMap((id) => (isHere && profiles.get(id)) || []);
    },
  };
  const own = { config, users, accounts, people: directory };
  const bed = await createServiceBed(recordsService, own, { ...options, onStatement });
  const catalog = await readCatalog(bed.ownerDatabase);
  const citus = `SELECT FROM pg_extension WHERE extname = 'citus'`;
  const isCluster = (await bed.ownerDatabase.query(citus)).length > 0;
  await bed.service.start();
  return {
    ...bed,
    people,
    elsewhere,
    profiles,
    profilesAsked,
    holders,
    names,
    onHolderAsked,
    isCluster,
    async close() {
      await bed.close();
      const refused: string[] = [];
      for (const text of statements) {
        const problems = await clusterProblems(text, catalog);
        if (problems.length > 0) refused.push(`${problems.join('; ')}, in: ${text}`);
      }
      if (refused.length > 0) throw new Error(refused.join('\n\n'));
    },
    async create(collection, data, identity = anonymous()) {
      const path = `/db/${collection}`;
      const { status, body } = await bed.call('POST', path, { identity, body: { data } });
      if (status !== 201) throw new Error(`not created: ${JSON.stringify(body)}`);
      return body;
    },
  };
};
