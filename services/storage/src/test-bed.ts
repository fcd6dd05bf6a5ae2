import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createInProcessBus } from '@backlot/bus';
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
  testProject,
} from '@backlot/testing';
import type { BlobStore } from './blob-store/blob-store.ts';
import { createFilesystemBlobStore } from './blob-store/filesystem.ts';
import type { StorageConfig } from './config.ts';
import { createStorageService, type StorageService } from './service.ts';

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

export interface TestBed {
  service: StorageService;
  http: ServiceUnderTest;
  database: Database;
  bus: ReturnType<typeof createInProcessBus>;
  store: BlobStore;
  /** A call as the gateway would make it, at the service's time. */
  call(method: string, path: string, identity: Identity, body?: unknown): Promise<TestAnswer>;
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
  /** Files below the store's folder, half-written ones included. */
  blobs(): Promise<string[]>;
  /** The service's clock. */
  now(): number;
  /** Moves it. */
  pass(ms: number): void;
  close(): Promise<void>;
}

export const publicUrl = 'https://api.example.org';
const base = `${publicUrl}/api/runtime/`;

/** The service's own path of an address that it gave out. */
export const pathOf = (url: string): string => {
  if (!url.startsWith(base)) throw new Error(`${url} is not below ${base}`);
  return url.slice(base.length).replace(/^[^/]+/, '');
};

/** @param given the filesystem unless another store is given */
export const createTestBed = async (
  config: Partial<StorageConfig> = {},
  given?: BlobStore,
): Promise<TestBed> => {
  const testDatabase = await createTestDatabase();
  const place = { url: testDatabase.url, schema: 'storage' };
  await migrate({ ...place, directory: fileURLToPath(new URL('../migrations', import.meta.url)) });
  const database = createDatabase(place);
  const directory = await mkdtemp(join(tmpdir(), 'backlot-files-'));
  const store = given ?? createFilesystemBlobStore(directory);
  const bus = createInProcessBus({ onDead: () => {} });
  let offset = 0;
  const service = createStorageService({
    database,
    bus,
    store,
    identitySecret: testIdentitySecret,
    now: () => Date.now() + offset,
    log: createLogger({ service: 'storage', level: 'silent' }),
    config: {
      filesUrl: publicUrl,
      masterKeys: [Buffer.alloc(32, 1)],
      quotaBytes: 1024 ** 3,
      maxUploads: 64,
      uploadIdleMs: 20_000,
      redirects: false,
      images: { maxPixels: 50_000_000, concurrency: 2 },
      ...config,
    },
    checkResponses: true,
  });
  const http = await serveForTest(service.app);

  const send = async (
    body: RequestInit['body'],
    headers: Record<string, string>,
    identity = anonymous(),
  ): Promise<TestAnswer> => {
    const response = await fetch(`${http.url}/storage/upload`, {
      method: 'POST',
      headers: { [identityHeader]: signed(identity, Date.now() + offset), ...headers },
      body: body ?? null,
      duplex: 'half',
    });
    return {
      status: response.status,
      headers: response.headers,
      body: JSON.parse(await response.text()),
    };
  };

  return {
    service,
    http,
    database,
    bus,
    store,
    send,
    call: (method, path, identity, body) =>
      http.call(method, path, {
        ...(body === undefined ? {} : { body }),
        headers: { [identityHeader]: signed(identity, Date.now() + offset) },
      }),
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
      const response = await fetch(http.url + pathOf(url), {
        method,
        headers: { [identityHeader]: signed(identity, Date.now() + offset), ...headers },
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      return { status: response.status, headers: response.headers, bytes };
    },
    async takeUsage() {
      const rows = await database.query<{ topic: string; payload: unknown }>(
        'WITH taken AS (DELETE FROM outbox RETURNING *) SELECT topic, payload FROM taken ORDER BY id',
      );
      return rows.map(({ payload }) => events['usage.recorded'].parse(payload));
    },
    async blobs() {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true });
      return entries.filter((each) => each.isFile()).map((each) => each.name);
    },
    now: () => Date.now() + offset,
    pass(ms) {
      offset += ms;
    },
    async close() {
      await http.stop();
      await database.close();
      await bus.close();
      await testDatabase.drop();
      await rm(directory, { recursive: true });
    },
  };
};
