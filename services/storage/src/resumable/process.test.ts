import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@backlot/database';
import { makeRandomContent, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type HttpResponse, Upload } from 'tus-js-client';
import { s3ConfigFor, startS3Store } from '../testing/s3-store.ts';
import {
  createLauncher,
  kill,
  type LaunchedService,
  type ServiceLauncher,
} from '../testing/service-process.ts';
import { servicePath } from '../testing/test-bed.ts';

const MIB = 1024 * 1024;
const callId = '018f0000-0000-7000-8000-0000000000c1';
const settings = { maxUploadBytes: 1024 * MIB };
const publicUrl = 'https://api.example.org';
const sha256Hex = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

interface Store {
  settings: Record<string, string>;
  close(): Promise<void>;
}

const filesystem = async (): Promise<Store> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-files-'));
  return {
    settings: { BACKLOT_STORAGE_DIR: folder },
    close: () => rm(folder, { recursive: true }),
  };
};

const s3 = async (): Promise<Store> => {
  const config = await s3ConfigFor();
  const { store, leftovers, close } = await startS3Store(config);
  return {
    settings: {
      BACKLOT_S3_BUCKET: config.bucket,
      BACKLOT_S3_ENDPOINT: config.endpoint ?? '',
      BACKLOT_S3_PATH_STYLE: 'true',
      BACKLOT_S3_CHECKSUMS: config.checksums,
      BACKLOT_S3_ACCESS_KEY_ID: config.credentials?.accessKeyId ?? '',
      BACKLOT_S3_SECRET_ACCESS_KEY: config.credentials?.secretAccessKey ?? '',
    },
    async close() {
      for (const key of await leftovers()) await store.remove(key);
      await close();
    },
  };
};

describe.each([
  ['the file system', filesystem],
  ['S3', s3],
])('tus-js-client, with files in %s', (_where, open) => {
  let store: Store;
  let launcher: ServiceLauncher;
  let service: LaunchedService;
  beforeAll(async () => {
    store = await open();
    launcher = await createLauncher({ BACKLOT_PUBLIC_URL: publicUrl, ...store.settings });
    service = await launcher.launch();
  });
  afterAll(async () => {
    await launcher.close();
    await store.close();
  });

  const identity = (method: string, path: string) =>
    launcher.identity(method, path, {
      project: { ...testProject, settings },
      reservation: { callId, millicredits: 1000_000, millicreditsPerUnit: 1000 },
    });

  /** The turn of a process that was killed ends after 10 s: as if these had passed. */
  const endTurn = async () => {
    const database = createDatabase({ url: launcher.database.ownerUrl, schema: 'storage' });
    const left = await database.query<{ seconds: number }>(
      `SELECT extract(epoch FROM held_until - now())::float AS seconds FROM resumable_uploads
       WHERE held_until > now()`,
    );
    expect(left.filter(({ seconds }) => seconds > 10)).toEqual([]);
    await database.query('UPDATE resumable_uploads SET held_until = now()');
    await database.close();
  };

  /** Kills the process at so many bytes, and starts another one in its place. */
  const sendThrough = (content: Buffer, killAt: number[], offsets: number[]) =>
    new Promise<HttpResponse>((resolve, reject) => {
      const upload = new Upload(content, {
        endpoint: `${service.url}/storage/tus`,
        metadata: { filename: 'big.bin' },
        retryDelays: Array.from({ length: 60 }, () => 500),
        onBeforeRequest(req) {
          const { pathname } = new URL(req.getURL());
          const headers = identity(req.getMethod(), pathname);
          for (const [name, value] of Object.entries(headers)) req.setHeader(name, value);
        },
        onAfterResponse(req, res) {
          const offset = res.getHeader('Upload-Offset');
          if (req.getMethod() === 'HEAD' && offset !== undefined) offsets.push(Number(offset));
        },
        onProgress(sent) {
          if (killAt[0] === undefined || sent < killAt[0]) return;
          killAt.shift();
          const { port } = new URL(service.url);
          kill(service)
            .then(endTurn)
            .then(() => launcher.launch(port))
            .then((next) => {
              service = next;
            }, reject);
        },
        onSuccess: ({ lastResponse }) => resolve(lastResponse),
        onError: reject,
      });
      upload.start();
    });

  it('goes on where it was cut off by the end of the process, twice, and has the file whole', async () => {
    const content = makeRandomContent(96 * MIB);
    const offsets: number[] = [];
    const last = await sendThrough(content, [32 * MIB, 64 * MIB], offsets);
    expect(offsets).toHaveLength(2);
    const [first = 0, second = 0] = offsets;
    expect(first).toBeGreaterThan(5 * MIB);
    expect(second).toBeGreaterThan(first);
    expect(second).toBeLessThan(content.length);

    const url = last.getHeader('X-File-Url') ?? '';
    const path = servicePath(url);
    const response = await fetch(service.url + path, { headers: identity('GET', path) });
    expect(sha256Hex(Buffer.from(await response.arrayBuffer()))).toBe(sha256Hex(content));
    expect(url).toMatch(new RegExp(`/${last.getHeader('X-File-Id')}/big\\.bin$`));

    const pool = createDatabase({ url: launcher.database.ownerUrl, schema: 'storage' });
    expect(await pool.query('SELECT count(*) AS n FROM files')).toEqual([{ n: 1 }]);
    expect(await pool.query('SELECT blob_key FROM loose_blobs')).toEqual([]);
    await pool.close();
  });

  it.each([
    ['opened first', false],
    ['sent with the call that opens it', true],
  ])('has an empty file as one, %s', async (_how, uploadDataDuringCreation) => {
    const last = await new Promise<HttpResponse>((resolve, reject) =>
      new Upload(Buffer.alloc(0), {
        endpoint: `${service.url}/storage/tus`,
        metadata: { filename: 'empty.bin' },
        uploadDataDuringCreation,
        retryDelays: null,
        onBeforeRequest(req) {
          const headers = identity(req.getMethod(), new URL(req.getURL()).pathname);
          for (const [name, value] of Object.entries(headers)) req.setHeader(name, value);
        },
        onSuccess: ({ lastResponse }) => resolve(lastResponse),
        onError: reject,
      }).start(),
    );
    const url = last.getHeader('X-File-Url') ?? '';
    const path = servicePath(url);
    const response = await fetch(service.url + path, { headers: identity('GET', path) });
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 0]);
    expect(url).toMatch(new RegExp(`/${last.getHeader('X-File-Id')}/empty\\.bin$`));
  });
});
