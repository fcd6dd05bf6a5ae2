import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  defaultLimits,
  type FileDirectory,
  type FileReader,
  type ImageDirectory,
  type KnownUser,
  type Payload,
  type ProjectSettings,
  type RecordChangeAnswer,
  type RecordPlace,
} from '@backlot/contract';
import { type Identity, identityHeader } from '@backlot/identity';
import {
  anonymous,
  createServiceBed,
  findTestRoute,
  type ServiceBed,
  signed,
  type TestAnswer,
  testProject,
} from '@backlot/testing';
import type { BlobStore } from '../blob-store/blob-store.ts';
import { createFilesystemBlobStore } from '../blob-store/filesystem.ts';
import type { StorageConfig } from '../config.ts';
import { storageService } from '../service.ts';

export const callId = '018f0000-0000-7000-8000-0000000000c1';
export const userA = '018f0000-0000-7000-8000-0000000000a1';
export const userB = '018f0000-0000-7000-8000-0000000000a2';
export const otherProject = {
  ...testProject,
  id: 'otherproject',
  number: 1002,
  ownerId: '018f0000-0000-7000-8000-00000000aaab',
};

export interface UploadOptions {
  identity?: Identity;
  name?: string;
  fields?: Record<string, string>;
  headers?: Record<string, string>;
}

export interface TestBed
  extends ServiceBed<{
    sweepBlobs(): Promise<void>;
    reportFindings(): Promise<void>;
    directories: { images: ImageDirectory; files: FileDirectory };
  }> {
  store: BlobStore;
  /** What the projects service says of every project. */
  project: { settings: ProjectSettings; verifiedOrigins?: string[]; isUnavailable?: boolean };
  /** What the accounts' service knows: who is in which groups, by `<project number>/<user id>`; null where they are gone, others are in none. */
  people: Map<string, KnownUser | null>;
  /** Secret keys that have ended, as `<project number>/<key id>`. */
  endedKeys: Set<string>;
  /** How often one of both was asked, and whether they answer. */
  signersAsked: { times: number; isUnavailable: boolean };
  /** What the records' service says of records, and how often it was asked. */
  records: {
    mayChange: (
      asking: FileReader & { collection: string; recordId: string },
    ) => RecordChangeAnswer;
    mayRead: (asking: FileReader & RecordPlace) => boolean;
    times: number;
  };
  /** One file in a form, fields first; an anonymous caller, free of charge, unless stated. */
  upload(content: string | Uint8Array, options?: UploadOptions): Promise<TestAnswer>;
  /** A form as the bytes that are given. */
  send(
    body: RequestInit['body'],
    headers: Record<string, string>,
    identity?: Identity,
  ): Promise<TestAnswer>;
  /** What a `url` that the service gave out answers to this caller. */
  get(
    url: string,
    options?: { identity?: Identity; headers?: Record<string, string>; method?: string },
  ): Promise<{ status: number; headers: Headers; bytes: Buffer }>;
  /** What was stored for the ledger; empties the list. */
  takeUsage(): Promise<Payload<'usage.recorded'>[]>;
  /** Names of the files below the store's folder, half-written ones included. */
  blobs(): Promise<string[]>;
  /** Rows of a table. */
  count(table: string): Promise<number>;
}

export const publicUrl = 'https://api.example.org';
const base = `${publicUrl}/api/runtime/`;

/** The service's own path of an address that it gave out. */
export const servicePath = (url: string): string => {
  if (!url.startsWith(base)) throw new Error(`${url} is not below ${base}`);
  return url.slice(base.length).replace(/^[^/]+/, '');
};

export const listFileNames = async (directory: string): Promise<string[]> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
};

/** @param otherStore instead of one in a temporary folder */
export const createTestBed = async (
  config: Partial<StorageConfig> = {},
  otherStore?: BlobStore,
): Promise<TestBed> => {
  const directory = await mkdtemp(join(tmpdir(), 'backlot-files-'));
  const store = otherStore ?? createFilesystemBlobStore(directory);
  const project: TestBed['project'] = { settings: {} };
  const people: TestBed['people'] = new Map();
  const endedKeys: TestBed['endedKeys'] = new Set();
  const signersAsked: TestBed['signersAsked'] = { times: 0, isUnavailable: false };
  const records: TestBed['records'] = {
    mayChange: () => ({
      refused: { code: 'not_found', message: 'There is no such record.' },
    }),
    mayRead: () => false,
    times: 0,
  };
  const noteAsked = () => {
    signersAsked.times++;
    if (signersAsked.isUnavailable) throw new Error('nobody answers');
  };
  const bed = await createServiceBed(storageService, {
    keys: {
      async isLive(project, id) {
        noteAsked();
        return !endedKeys.has(`${project}/${id}`);
      },
    },
    users: {
      async findRoleAndGroups(project, id) {
        noteAsked();
        const known = people.get(`${project}/${id}`);
        return known === undefined ? { role: 'user', groups: [] } : known;
      },
      findHolder: async () => null,
    },
    records: {
      mayChange: async (asking) => records.mayChange(asking),
      async mayRead(asking) {
        records.times++;
        return records.mayRead(asking);
      },
    },
    store,
    projects: {
      async findProject(id) {
        if (project.isUnavailable) throw new Error('projects is down');
        return { ...testProject, ...project, id, status: 'active', limits: defaultLimits };
      },
      findKey: async () => null,
    },
    config: {
      blobs: { kind: 'filesystem', directory },
      filesUrl: publicUrl,
      masterKeys: [Buffer.alloc(32, 1)],
      quotaBytes: 1024 ** 3,
      maxUploads: 64,
      maxDownloads: 64,
      uploadIdleMs: 20_000,
      redirects: false,
      images: { maxPixels: 50_000_000, concurrency: 2 },
      ...config,
    },
  });
  const fetchAs = (identity: Identity, path: string, { headers, ...init }: RequestInit) =>
    fetch(bed.http.url + path, {
      ...init,
      headers: {
        [identityHeader]: signed(
          identity,
          findTestRoute(init.method ?? 'GET', path),
          bed.clock.now(),
        ),
        ...headers,
      },
    });

  const send: TestBed['send'] = async (body, headers, identity = anonymous()) => {
    const init: RequestInit = { method: 'POST', headers, body: body ?? null, duplex: 'half' };
    const response = await fetchAs(identity, '/storage/upload', init);
    return {
      status: response.status,
      headers: response.headers,
      body: JSON.parse(await response.text()),
    };
  };

  return {
    ...bed,
    store,
    project,
    people,
    endedKeys,
    signersAsked,
    records,
    send,
    upload(content, { identity, name = 'a.txt', fields = {}, headers = {} } = {}) {
      const form = new FormData();
      for (const [field, value] of Object.entries(fields)) form.append(field, value);
      form.append(
        'file',
        new Blob([typeof content === 'string' ? content : new Uint8Array(content)]),
        name,
      );
      return send(form, headers, identity);
    },
    async get(url, { identity = anonymous(), headers = {}, method = 'GET' } = {}) {
      const response = await fetchAs(identity, servicePath(url), { method, headers });
      const bytes = Buffer.from(await response.arrayBuffer());
      return { status: response.status, headers: response.headers, bytes };
    },
    takeUsage: () => bed.take('usage.recorded'),
    blobs: () => listFileNames(directory),
    async count(table) {
      const [row] = await bed.database.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`);
      return row?.n ?? 0;
    },
    async close() {
      await bed.close();
      await rm(directory, { recursive: true });
    },
  };
};
