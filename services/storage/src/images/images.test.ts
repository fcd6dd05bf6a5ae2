import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anonymous, asKey, asOwner, asUser, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import sharp from 'sharp';
import { createFilesystemBlobStore } from '../blob-store/filesystem.ts';
import { encodePng } from '../testing/png.ts';
import { createTestBed, otherProject, type TestBed, userA } from '../testing/test-bed.ts';

const photo = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 30 } } });

/** One whose files no other process reads, so that each source is opened here. */
const createStore = (directory: string) => {
  const { folder, ...store } = createFilesystemBlobStore(directory);
  return store;
};

describe('images made from files', () => {
  let bed: TestBed;
  let url: string;
  beforeAll(async () => {
    bed = await createTestBed();
    const jpeg = await photo(1200, 800)
      .withExif({ IFD0: { Copyright: 'somebody', Make: 'a camera' } })
      .jpeg()
      .toBuffer();
    url = (await bed.upload(jpeg, { name: 'photo.jpg' })).body.url;
  });
  afterAll(() => bed.close());

  const count = () => bed.count('images');
  const imageAt = async (address: string) => {
    const { status, headers, bytes } = await bed.get(address);
    expect(status).toBe(200);
    return { headers, meta: await sharp(bytes).metadata() };
  };

  it.each([
    ['width=300', 300, 200, 'jpeg'],
    ['height=100', 150, 100, 'jpeg'],
    ['width=300&height=300', 300, 200, 'jpeg'],
    ['width=300&height=300&fit=cover', 300, 300, 'jpeg'],
    ['width=300&height=300&fit=contain', 300, 300, 'jpeg'],
    ['width=4096', 1200, 800, 'jpeg'],
    ['width=10&format=webp', 10, 7, 'webp'],
    ['width=10&format=avif', 10, 7, 'heif'],
    ['format=png', 1200, 800, 'png'],
  ])('?%s', async (query, width, height, format) => {
    const { headers, meta } = await imageAt(`${url}?${query}`);
    expect(meta).toMatchObject({ width, height, format });
    const type = headers.get('content-type') ?? '';
    expect(type).toBe(`image/${format === 'heif' ? 'avif' : format}`);
    expect(headers.get('content-disposition')).toContain(`photo.${type.replace('image/', '')}`);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(meta.exif).toBeUndefined();
  });

  it('show in the metrics what they cost', async () => {
    await imageAt(`${url}?width=11`);
    expect(await bed.registry.metrics()).toMatch(
      /backlot_queue_cost_seconds_total\{queue="images",lane="slow"\} [\d.e-]*[1-9]/,
    );
  });

  it('are turned the right way up', async () => {
    const turned = await photo(120, 80).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { body } = await bed.upload(turned, { name: 'turned.jpg' });
    const { meta } = await imageAt(`${body.url}?width=40`);
    expect(meta).toMatchObject({ width: 40, height: 60 });
    expect(meta.orientation).toBeUndefined();
  });

  it('are computed once for 100 parallel calls, and served from the store after that', async () => {
    const before = await count();
    const blobs = (await bed.blobs()).length;
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => bed.get(`${url}?width=77`)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const etags = new Set(answers.map(({ headers }) => headers.get('etag')));
    expect(etags.size).toBe(1);
    expect(await count()).toBe((before ?? 0) + 1);
    expect(await bed.blobs()).toHaveLength(blobs + 1);
    const headers = { 'if-none-match': [...etags][0] ?? '' };
    expect((await bed.get(`${url}?width=77`, { headers })).status).toBe(304);
    expect((await bed.get(`${url}?width=78`, { headers })).status).toBe(200);
    const part = await bed.get(`${url}?width=77`, { headers: { range: 'bytes=0-3' } });
    expect([part.status, part.bytes.length]).toEqual([206, 4]);
  });

  it('go with their file', async () => {
    const { body } = await bed.upload(await photo(50, 50).png().toBuffer(), {
      identity: asUser(userA),
      fields: { visibility: 'private' },
    });
    const before = (await bed.blobs()).length;
    const owner = { identity: asUser(userA) };
    expect((await bed.get(`${body.url}?width=10`, owner)).status).toBe(200);
    expect((await bed.get(`${body.url}?width=10`)).status).toBe(404);
    expect(await bed.blobs()).toHaveLength(before + 1);
    await bed.call('DELETE', `/storage/files/${body.id}`, { identity: asUser(userA) });
    expect(await bed.blobs()).toHaveLength(before - 1);
    expect((await bed.get(`${body.url}?width=10`, owner)).status).toBe(404);
  });

  it('are none of a file whose blob is gone', async () => {
    const { body } = await bed.upload(await photo(50, 50).png().toBuffer());
    const [row] = await bed.database.query<{ blob_key: string }>(
      'SELECT blob_key FROM files WHERE id = $1',
      [body.id],
    );
    await bed.store.remove(row?.blob_key ?? '');
    expect((await bed.get(`${body.url}?width=10`)).status).toBe(404);
  });

  it('are at most forty of one file', async () => {
    const { body } = await bed.upload(await photo(100, 100).png().toBuffer());
    const before = (await bed.blobs()).length;
    for (let width = 1; width <= 45; width++) await bed.get(`${body.url}?width=${width}`);
    const [row] = await bed.database.query<{ n: number }>(
      'SELECT count(*) AS n FROM images WHERE file_id = $1',
      [body.id],
    );
    expect(row?.n).toBe(40);
    await bed.service.sweepBlobs();
    expect(await bed.blobs()).toHaveLength(before + 40);
    expect((await bed.get(`${body.url}?width=1`)).status).toBe(200);
  });

  it('wait for each other within one owner, not behind those of another', async () => {
    const gate = Promise.withResolvers<void>();
    const directory = await mkdtemp(join(tmpdir(), 'backlot-files-'));
    const files = createStore(directory);
    const sources = new Map<string, string>();
    const begun: string[] = [];
    const store = {
      ...files,
      async open(...args: Parameters<typeof files.open>) {
        const whose = sources.get(args[0]);
        if (whose !== undefined) begun.push(whose);
        await gate.promise;
        return files.open(...args);
      },
    };
    const shared = await createTestBed({ images: { maxPixels: 1e6, concurrency: 1 } }, store);
    const png = await photo(100, 100).png().toBuffer();
    const stranger = { identity: anonymous({ project: otherProject }) };
    const crowded = (await shared.upload(png)).body;
    const calm = (await shared.upload(png, stranger)).body;
    const rows = await shared.database.query<{ id: string; blob_key: string }>(
      'SELECT id, blob_key FROM files',
    );
    for (const { id, blob_key } of rows)
      sources.set(blob_key, id === calm.id ? 'stranger' : 'crowd');
    const isQueued = async () => {
      for (let n = 0; n < 5; n++) await shared.get(calm.url, { ...stranger, method: 'HEAD' });
    };
    const crowd = Array.from({ length: 12 }, (_, n) => shared.get(`${crowded.url}?width=${n + 1}`));
    await until(() => begun.length === 1);
    await isQueued();
    const other = shared.get(`${calm.url}?width=5`, stranger);
    await isQueued();
    gate.resolve();
    const answers = await Promise.all([...crowd, other]);
    await shared.close();
    await rm(directory, { recursive: true });
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(begun).toEqual(['crowd', 'stranger', ...Array(11).fill('crowd')]);
  });

  it('wait behind no large one of others where they are small', async () => {
    const gate = Promise.withResolvers<void>();
    const directory = await mkdtemp(join(tmpdir(), 'backlot-files-'));
    const files = createStore(directory);
    let opened = 0;
    const store = {
      ...files,
      async open(...args: Parameters<typeof files.open>) {
        opened += 1;
        if (opened === 1) await gate.promise;
        return files.open(...args);
      },
    };
    const shared = await createTestBed({ images: { maxPixels: 1e6, concurrency: 1 } }, store);
    const png = await photo(100, 100).png().toBuffer();
    const crowded = (await shared.upload(png)).body;
    const stranger = { identity: anonymous({ project: otherProject }) };
    const calm = (await shared.upload(png, stranger)).body;
    const large = shared.get(`${crowded.url}?width=1400&format=avif`);
    await until(() => opened === 1);
    const small = await shared.get(`${calm.url}?width=5`, stranger);
    gate.resolve();
    const answers = [small, await large];
    await shared.close();
    await rm(directory, { recursive: true });
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('count in the quota and give way: the oldest to newer ones, all to files', async () => {
    const small = await createTestBed({ quotaBytes: 50_000 });
    const noise = (width: number) =>
      sharp(randomBytes(width * width * 3), { raw: { width, height: width, channels: 3 } });
    const { body } = await small.upload(await noise(64).png().toBuffer());
    const totals = async () =>
      (await small.call('GET', '/platform/projects/testproject/files', { identity: asOwner() }))
        .body;
    const png = async (width: number) =>
      (await small.get(`${body.url}?format=png&width=${width}`)).status;
    const variants = async () =>
      (await small.database.query<{ variant: string }>('SELECT variant FROM images')).map(
        ({ variant }) => variant,
      );
    for (let width = 40; width < 60; width++) {
      expect(await png(width)).toBe(200);
      small.clock.pass(1000);
      expect((await totals()).totalBytes).toBeLessThanOrEqual(50_000);
    }
    expect(await variants()).toContain('59x-inside.png');
    expect(await variants()).not.toContain('40x-inside.png');
    await small.service.sweepBlobs();
    expect(await small.blobs()).toHaveLength(1 + (await variants()).length);

    expect((await small.upload(Buffer.alloc(30_000, 1))).status).toBe(201);
    expect((await totals()).totalBytes).toBeLessThanOrEqual(50_000);
    expect((await small.upload(Buffer.alloc(6000, 1))).status).toBe(201);
    expect(await variants()).toEqual([]);
    expect(await png(60)).toBe(200);
    expect(await variants()).toEqual([]);
    await small.service.sweepBlobs();
    expect(await small.blobs()).toHaveLength(3);
    await small.close();
  });

  it('go out of the quota with their file, and are refused where they are large and have no room', async () => {
    const small = await createTestBed({ quotaBytes: 400_000 });
    const pixels = { raw: { width: 400, height: 400, channels: 3 } } as const;
    const jpeg = await sharp(randomBytes(400 * 400 * 3), pixels)
      .jpeg()
      .toBuffer();
    const { body } = await small.upload(jpeg);
    const totals = async () =>
      (await small.call('GET', '/platform/projects/testproject/files', { identity: asOwner() }))
        .body;
    const refused = await small.get(`${body.url}?format=png`);
    expect([refused.status, JSON.parse(refused.bytes.toString()).code]).toEqual([
      403,
      'storage_quota',
    ]);
    expect((await small.get(`${body.url}?width=50`)).status).toBe(200);
    expect((await totals()).totalBytes).toBeGreaterThan(jpeg.length);
    await small.call('DELETE', `/storage/files/${body.id}`, { identity: asKey() });
    expect(await totals()).toMatchObject({ totalFiles: 0, totalBytes: 0 });
    await small.close();
  });

  it.each([
    ['a text', Buffer.from('text'), 'no image'],
    ['half a JPEG', Buffer.from('ffd8ffe000104a46494600010100', 'hex'), 'broken'],
    [
      'a bomb of 65,000 by 65,000 pixels',
      encodePng({ width: 65_000, height: 65_000 }),
      'too many pixels',
    ],
    ['a BMP', Buffer.from(`424d${'00'.repeat(60)}`, 'hex'), 'it is BMP; JPEG, PNG, WebP, AVIF'],
    ['an icon', Buffer.from(`00000100010010100000${'00'.repeat(60)}`, 'hex'), 'it is ICO; '],
    [
      'a picture of a phone',
      Buffer.from(`0000001c667479706865696300000000${'00'.repeat(60)}`, 'hex'),
      'it is HEIC; ',
    ],
    ['a lie about 7,000 by 7,000 pixels', encodePng({ width: 7000, height: 7000 }), 'broken'],
  ])('are not made from %s: 400', async (_what, content, why) => {
    const { body } = await bed.upload(content);
    const answer = await bed.get(`${body.url}?width=10`);
    expect(answer.status).toBe(400);
    const failure = JSON.parse(answer.bytes.toString());
    expect(failure.code).toBe('invalid_query');
    expect(failure.error).toContain(why);
  });

  it.each([
    'width=0',
    'width=4097',
    'width=x',
    'width=1.5',
    'height=-1',
    'format=svg',
    'fit=fill&width=1',
    'width=1&width=2',
    'width=',
  ])('refuse %s, naming the field', async (query) => {
    const answer = await bed.get(`${url}?${query}`);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.bytes.toString()).error).toMatch(/"(width|height|format|fit)"/);
  });

  it('are made from a JPEG of phones that leave the parameters of its scan empty', async () => {
    const jpeg = await photo(100, 80).jpeg().toBuffer();
    const scan = jpeg.indexOf(Buffer.from('ffda', 'hex'));
    const end = scan + 2 + jpeg.readUInt16BE(scan + 2);
    expect(jpeg.subarray(end - 3, end)).toEqual(Buffer.from('003f00', 'hex'));
    jpeg.fill(0, end - 3, end);
    const { body } = await bed.upload(jpeg, { name: 'phone.jpg' });
    const { meta } = await imageAt(`${body.url}?width=50`);
    expect(meta).toMatchObject({ width: 50, height: 40, format: 'jpeg' });
  });

  it('are never larger than their source, and keep the proportions asked for', async () => {
    const sizeOf = async (address: string, query: string) => {
      const { meta } = await imageAt(`${address}?${query}`);
      return [meta.width, meta.height];
    };
    const upload = async (image: ReturnType<typeof photo>) =>
      (await bed.upload(await image.png().toBuffer(), { name: 'a.png' })).body.url;
    const dot = await upload(photo(1, 1));
    for (const query of ['width=4096&fit=contain', 'height=4096&fit=cover', 'width=9&height=7'])
      for (const fit of ['', '&fit=contain', '&fit=cover'])
        expect([query, fit, await sizeOf(dot, query.replace(/&fit.*/, '') + fit)]).toEqual([
          query,
          fit,
          [1, 1],
        ]);
    const wide = await upload(photo(200, 100));
    expect(await sizeOf(wide, 'width=400&height=400&fit=cover')).toEqual([100, 100]);
    expect(await sizeOf(wide, 'width=400&height=400&fit=contain')).toEqual([100, 100]);
    expect(await sizeOf(wide, 'width=150&height=300&fit=cover')).toEqual([50, 100]);
    expect(await sizeOf(wide, 'width=400&fit=contain')).toEqual([200, 100]);
    expect(await sizeOf(wide, 'width=100&fit=cover')).toEqual([100, 50]);
    const turned = await upload(photo(200, 100).withMetadata({ orientation: 6 }));
    expect(await sizeOf(turned, 'width=400&height=800&fit=cover')).toEqual([100, 200]);
  });

  it('name the limit of a format that holds no image of this size', async () => {
    const long = await photo(16_384, 1).png().toBuffer();
    const { body } = await bed.upload(long, { name: 'long.png' });
    const answer = await bed.get(`${body.url}?format=webp`);
    expect([answer.status, JSON.parse(answer.bytes.toString()).error]).toEqual([
      400,
      expect.stringContaining('WebP has at most 16,383 pixels a side'),
    ]);
    expect((await bed.get(`${body.url}?format=webp&width=4096`)).status).toBe(200);
  });

  it('never answer 5xx, whatever bytes call themselves an image', async () => {
    const heads = ['ffd8ff', '89504e470d0a1a0a', '474946383961', '524946460000000057454250'];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...heads),
        fc.uint8Array({ maxLength: 300 }),
        async (head, rest) => {
          const content = Buffer.concat([Buffer.from(head, 'hex'), rest]);
          const { body } = await bed.upload(content);
          expect((await bed.get(`${body.url}?width=10`)).status).toBeLessThan(500);
        },
      ),
      { numRuns: 40 },
    );
  });
});
