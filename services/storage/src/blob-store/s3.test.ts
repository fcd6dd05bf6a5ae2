import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { storageRoutes } from '@backlot/contract';
import { identityHeader } from '@backlot/identity';
import { anonymous, asKey, signed, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Upload } from '@tus/server';
import { s3ConfigFor, startS3Store } from '../testing/s3-store.ts';
import { createTestBed, servicePath, type TestBed } from '../testing/test-bed.ts';
import { blobStoreConformance, type StoreUnderTest } from './blob-store.conformance.ts';
import { BlobNotFound, BlobStoreUnavailable, type Notes } from './blob-store.ts';
import { resumableConformance } from './resumable.conformance.ts';
import { createS3BlobStore } from './s3.ts';

const MIB = 1024 * 1024;

blobStoreConformance('S3', () => startS3Store());
blobStoreConformance('S3 with checksums', () => startS3Store({ checksums: 'WHEN_SUPPORTED' }));

resumableConformance('S3', () => startS3Store());
resumableConformance('S3 with checksums', () => startS3Store({ checksums: 'WHEN_SUPPORTED' }));

describe('an S3 that fails', () => {
  async function* source() {
    yield Buffer.from('text');
  }

  it('is unavailable where nobody listens', async () => {
    const store = createS3BlobStore(await s3ConfigFor({ endpoint: 'http://127.0.0.1:9' }));
    await expect(store.put('a/b', source())).rejects.toThrow(BlobStoreUnavailable);
    await expect(store.open('a/b')).rejects.toThrow(BlobStoreUnavailable);
    await store.close();
  });

  it('is unavailable where it refuses us', async () => {
    const credentials = { accessKeyId: 'AKIAWRONG', secretAccessKey: 'wrong' };
    const store = createS3BlobStore(await s3ConfigFor({ credentials }));
    await expect(store.put('a/b', source())).rejects.toThrow(BlobStoreUnavailable);
    await store.close();
  });

  it('shows to a caller as 503, in no words of its own', async () => {
    const store = createS3BlobStore(await s3ConfigFor());
    const bed = await createTestBed({}, store);
    const { status, body } = await bed.upload('text');
    expect([status, body.code]).toEqual([503, 'unavailable']);
    expect(body.error).not.toMatch(/bucket|S3|key/i);
    await bed.close();
    await store.close();
  });
});

describe('files in S3', () => {
  let s3: StoreUnderTest;
  let bed: TestBed;
  beforeAll(async () => {
    s3 = await startS3Store();
    bed = await createTestBed({}, s3.store);
  });
  afterAll(async () => {
    await bed.close();
    await s3.close();
  });

  it('are uploaded, served in parts, made into images of, and deleted', async () => {
    const content = randomBytes(13 * MIB);
    const { body } = await bed.upload(content);
    expect((await bed.get(body.url)).bytes.equals(content)).toBe(true);
    const part = await bed.get(body.url, { headers: { range: 'bytes=5242870-5242889' } });
    expect(part.bytes.equals(content.subarray(5_242_870, 5_242_890))).toBe(true);
    await bed.call('DELETE', `/storage/files/${body.id}`, { identity: asKey() });
    expect(await s3.leftovers()).toEqual([]);
  });

  it('are read from S3 itself where the settings say so', async () => {
    const other = await createTestBed({ redirects: true }, s3.store);
    const { body } = await other.upload('<script>alert(1)</script>', { name: 'a.html' });
    const answer = await fetch(other.http.url + servicePath(body.url), {
      headers: { [identityHeader]: signed(anonymous(), storageRoutes.getFile) },
      redirect: 'manual',
    });
    expect(answer.status).toBe(302);
    expect(answer.headers.get('cache-control')).toBe('private, max-age=300');
    const found = await fetch(answer.headers.get('location') ?? '');
    expect(await found.text()).toBe('<script>alert(1)</script>');
    expect(found.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(found.headers.get('content-disposition')).toContain('a.html');
    const head = await fetch(other.http.url + servicePath(body.url), {
      method: 'HEAD',
      headers: { [identityHeader]: signed(anonymous(), storageRoutes.getFile) },
    });
    expect(head.status).toBe(200);

    const picture = (await other.upload('<svg onload="x"/>', { name: 'a.svg' })).body;
    const shown = await other.get(picture.url);
    expect(shown.status).toBe(200);
    expect(shown.headers.get('content-security-policy')).toContain('sandbox');
    await other.call('DELETE', `/storage/files/${picture.id}`, { identity: asKey() });
    await other.call('DELETE', `/storage/files/${body.id}`, { identity: asKey() });
    await other.close();
  });

  it('that came in several calls are whole, also where the process ended before S3 was told so', async () => {
    const key = '1001/killed';
    const kept = new Map<string, unknown>();
    const notes: Notes = {
      get: async <T>(id: string) => kept.get(id) as T | undefined,
      set: async (id, note) => void kept.set(id, note),
      delete: async () => {},
    };
    const content = randomBytes(7 * MIB);
    await s3.store
      .resumable(notes)
      .create(new Upload({ id: key, size: content.length, offset: 0 }));
    const killed = Object.assign(s3.store.resumable(notes), {
      finishMultipartUpload: () => Promise.reject(new Error('killed')),
    });
    await expect(killed.write(Readable.from([content]), key, 0)).rejects.toThrow();
    await expect(s3.store.sizeBytes(key)).rejects.toThrow(BlobNotFound);
    expect((await s3.store.resumable(notes).getUpload(key)).offset).toBe(content.length);
    const found = Buffer.concat(await (await s3.store.open(key)).toArray());
    expect(found.equals(content)).toBe(true);
    await s3.store.remove(key);
  });

  it('are out of reach where S3 breaks off while it gives what waits for a part', async () => {
    const key = '1001/broken-off';
    const note = new Map<string, unknown>();
    const notes: Notes = {
      get: async <T>(id: string) => note.get(id) as T | undefined,
      set: async (id, value) => void note.set(id, value),
      delete: async () => {},
    };
    const datastore = s3.store.resumable(notes);
    await datastore.create(new Upload({ id: key, size: 10, offset: 0 }));
    const broken = Object.assign(datastore, {
      getIncompletePart: async () =>
        new Readable({
          read() {
            this.destroy(new Error('aborted'));
          },
        }),
    });
    await expect(broken.write(Readable.from([Buffer.from('x')]), key, 5)).rejects.toThrow(
      BlobStoreUnavailable,
    );
    await s3.store.remove(key);
  });

  it('are uploaded sixteen at once through four buffers', async () => {
    const contents = Array.from({ length: 16 }, () => randomBytes(6 * MIB));
    const answers = await Promise.all(contents.map((content) => bed.upload(content)));
    for (const [index, { body }] of answers.entries()) {
      expect((await bed.get(body.url)).bytes.equals(contents[index] ?? Buffer.alloc(0))).toBe(true);
      await bed.call('DELETE', `/storage/files/${body.id}`, { identity: asKey() });
    }
    expect(await s3.leftovers()).toEqual([]);
  });

  it('are stored and removed while every connection that reads waits for its reader', async () => {
    const { body } = await bed.upload('read by many');
    const key = `${testProject.number}/${body.id}`;
    const unread = await Promise.all(Array.from({ length: 128 }, () => s3.store.open(key)));
    const added = await bed.upload('in between');
    expect(added.status).toBe(201);
    for (const { id } of [added.body, body])
      expect((await bed.call('DELETE', `/storage/files/${id}`, { identity: asKey() })).status).toBe(
        200,
      );
    expect(await s3.leftovers()).toEqual([]);
    for (const stream of unread) stream.destroy();
  });

  it('leave nothing, no part either, when the caller goes away', async () => {
    const req = request(`${bed.http.url}/storage/upload`, {
      method: 'POST',
      headers: {
        [identityHeader]: signed(anonymous(), storageRoutes.uploadFile),
        'content-type': 'multipart/form-data; boundary=b',
      },
    });
    req.on('error', () => {});
    req.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    req.write(randomBytes(12 * MIB));
    await until(async () => (await s3.leftovers()).length === 1);
    req.destroy();
    await until(async () => (await s3.leftovers()).length === 0);
  });

  it('are not shut out by callers who stand still on every buffer', async () => {
    const slow = Array.from({ length: 6 }, () => {
      const req = request(`${bed.http.url}/storage/upload`, {
        method: 'POST',
        headers: {
          [identityHeader]: signed(anonymous(), storageRoutes.uploadFile),
          'content-type': 'multipart/form-data; boundary=b',
        },
      });
      req.on('error', () => {});
      req.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
      req.write('a little');
      return req;
    });
    await Promise.all(slow.map((req) => once(req, 'socket')));
    const { status, body } = await bed.upload('in between');
    expect(status).toBe(201);
    await bed.call('DELETE', `/storage/files/${body.id}`, { identity: asKey() });
    for (const req of slow) {
      req.end(' more\r\n--b--\r\n');
      const [res] = await once(req, 'response');
      expect(res.statusCode).toBe(201);
      const { id } = JSON.parse(Buffer.concat(await res.toArray()).toString());
      await bed.call('DELETE', `/storage/files/${id}`, { identity: asKey() });
    }
  });
});
