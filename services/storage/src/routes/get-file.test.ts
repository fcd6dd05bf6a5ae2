import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { storageRoutes } from '@backlot/contract';
import { identityHeader } from '@backlot/identity';
import {
  anonymous,
  asKey,
  asOperator,
  asOwner,
  asUser,
  makeRandomContent,
  refusesStrangers,
  serveForTest,
  signed,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  otherProject,
  servicePath,
  type TestBed,
  userA,
  userB,
} from '../testing/test-bed.ts';

const someId = '018f0000-0000-4000-8000-000000000000';
const bad = anonymous({ hasBadCredential: true });

describe('getFile', () => {
  let bed: TestBed;
  let open: string;
  let hidden: string;
  const content = makeRandomContent(100_000);
  beforeAll(async () => {
    bed = await createTestBed();
    open = (await bed.upload(content, { name: 'a.bin' })).body.url;
    const fields = { visibility: 'private' };
    hidden = (await bed.upload('secret', { identity: asUser(userA), fields })).body.url;
  });
  afterAll(() => bed.close());
  refusesStrangers(
    storageRoutes.getFile,
    () => bed.http,
    () => ({ path: servicePath(open) }),
  );

  const getStatus = async (url: string, identity = anonymous()) =>
    (await bed.get(url, { identity })).status;

  it('gives the bytes, their length, a strong ETag, and says that they never change', async () => {
    const { status, headers, bytes } = await bed.get(open);
    expect([status, bytes.equals(content)]).toEqual([200, true]);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-length': '100000',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[0-9a-f-]{36}"$/),
      'cache-control': 'public, max-age=31536000, immutable',
    });
    const head = await bed.get(open, { method: 'HEAD' });
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    for (const name of ['content-length', 'content-type', 'etag', 'content-disposition'])
      expect(head.headers.get(name)).toBe(headers.get(name));
  });

  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=0-', 0, 99_999],
    ['bytes=99999-', 99_999, 99_999],
    ['bytes=-1', 99_999, 99_999],
    ['bytes=-500', 99_500, 99_999],
    ['bytes=10-19', 10, 19],
    ['bytes=99990-200000', 99_990, 99_999],
    ['bytes=-200000', 0, 99_999],
    ['bytes=0-9,10-19', 0, 19],
  ])('answers %s with 206', async (range, start, end) => {
    const { status, headers, bytes } = await bed.get(open, { headers: { range } });
    expect([status, headers.get('content-range')]).toEqual([206, `bytes ${start}-${end}/100000`]);
    expect(headers.get('content-length')).toBe(String(end - start + 1));
    expect(bytes.equals(content.subarray(start, end + 1))).toBe(true);
  });

  it.each(['bytes=100000-', 'bytes=200000-300000', 'bytes=-0'])(
    'answers %s with 416 and the length',
    async (range) => {
      const { status, headers, bytes } = await bed.get(open, { headers: { range } });
      expect([status, headers.get('content-range')]).toEqual([416, 'bytes */100000']);
      expect(JSON.parse(bytes.toString())).toMatchObject({ code: 'range_not_satisfiable' });
    },
  );

  it.each(['bytes=0-9,50-59', 'lines=1-2', 'bytes', 'bytes=x', 'bytes=5'])(
    'answers %s with all of it',
    async (range) => {
      const { status, bytes } = await bed.get(open, { headers: { range } });
      expect([status, bytes.length]).toEqual([200, 100_000]);
    },
  );

  it('gives a part only of the content that the caller has', async () => {
    const { headers } = await bed.get(open);
    const etag = headers.get('etag') ?? '';
    for (const [condition, status] of [
      [etag, 206],
      ['"other"', 200],
      [`W/${etag}`, 200],
      [headers.get('last-modified') ?? '', 206],
      ['Mon, 01 Jan 2001 00:00:00 GMT', 200],
    ] as const) {
      const asked = { range: 'bytes=0-9', 'if-range': condition };
      expect((await bed.get(open, { headers: asked })).status).toBe(status);
    }
  });

  it('answers 304 to who has it already', async () => {
    const { headers } = await bed.get(open);
    const etag = headers.get('etag') ?? '';
    for (const [name, value, status] of [
      ['if-none-match', etag, 304],
      ['if-none-match', `"x", W/${etag}`, 304],
      ['if-none-match', '*', 304],
      ['if-none-match', '"x"', 200],
      ['if-modified-since', headers.get('last-modified') ?? '', 304],
      ['if-modified-since', 'Mon, 01 Jan 2001 00:00:00 GMT', 200],
    ] as const) {
      const answer = await bed.get(open, { headers: { [name]: value } });
      expect([name, value, answer.status]).toEqual([name, value, status]);
      if (status === 304)
        expect([answer.bytes.length, answer.headers.get('etag')]).toEqual([0, etag]);
    }
  });

  it('opens a public file to everybody, whatever came along', async () => {
    for (const identity of [anonymous(), bad, asUser(userB), asKey()])
      expect(await getStatus(open, identity)).toBe(200);
    expect(await getStatus(`${open}?signature=junk&expires=1`)).toBe(200);
  });

  it('opens a private file to its own, and is no file to others', async () => {
    for (const identity of [asUser(userA), asOwner(), asKey(), asOperator()])
      expect(await getStatus(hidden, identity)).toBe(200);
    for (const identity of [anonymous(), asUser(userB)])
      expect(await getStatus(hidden, identity)).toBe(404);
    expect(await getStatus(hidden, bad)).toBe(401);
    const { headers } = await bed.get(hidden, { identity: asKey() });
    expect(headers.get('cache-control')).toBe('private, no-cache');
  });

  it('knows no file of another project, no id that is none and no deleted one', async () => {
    expect(await getStatus(open, anonymous({ project: otherProject }))).toBe(404);
    expect(await getStatus(hidden, asKey({ project: otherProject }))).toBe(404);
    for (const id of [someId, 'x', '%00', '..%2f', 'a'.repeat(5000)]) {
      const url = `${open.replace(/files\/.*/, 'files/')}${id}/a`;
      expect(await getStatus(url)).toBe(404);
      expect(await getStatus(url, bad)).toBe(401);
    }
  });

  const types: [string, string | Buffer, string, string][] = [
    ['text', 'Hello, wörld', 'text/plain; charset=utf-8', 'inline'],
    ['HTML', '<!doctype html><script>alert(1)</script>', 'text/plain; charset=utf-8', 'inline'],
    ['JavaScript', 'alert(1)', 'text/plain; charset=utf-8', 'inline'],
    ['a PNG', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'image/png', 'inline'],
    ['a GIF and HTML', 'GIF89a/*<script>alert(1)</script>*/=1', 'image/gif', 'inline'],
    ['a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), 'image/jpeg', 'inline'],
    ['a ZIP', Buffer.from('504b0506000000000000', 'hex'), 'application/zip', 'attachment'],
    ['bytes', Buffer.from([1, 2, 3, 0, 255]), 'application/octet-stream', 'attachment'],
    ['UTF-16', Buffer.from('feff003c0061', 'hex'), 'application/octet-stream', 'attachment'],
  ];
  it.each(types)('serves %s by its content alone', async (_what, bytes, type, disposition) => {
    for (const name of ['a.html', 'a.svg', 'a.png']) {
      const { body } = await bed.upload(bytes, { name });
      const { headers } = await bed.get(body.url);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': type,
        'content-disposition': expect.stringMatching(new RegExp(`^${disposition}; filename="?a`)),
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'cross-origin',
      });
    }
  });

  it('shows an SVG in a sandbox without scripts, in every size and in no other format', async () => {
    const text = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="x"/>';
    const { body } = await bed.upload(text, { name: 'a.html' });
    expect(body.type).toBe('image/svg+xml');
    const policy =
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox";
    for (const query of ['', '?width=40', '?width=40&height=40&fit=cover']) {
      const { headers, bytes } = await bed.get(body.url + query);
      expect(bytes.toString()).toBe(text);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'image/svg+xml',
        'content-disposition': expect.stringMatching(/^inline; filename="?a.html/),
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
      });
    }
    const etag = (await bed.get(body.url)).headers.get('etag') ?? '';
    const again = await bed.get(body.url, { headers: { 'if-none-match': etag } });
    expect([again.status, again.headers.get('content-security-policy')]).toEqual([304, policy]);
    const png = await bed.get(`${body.url}?format=png`);
    expect([png.status, png.bytes.toString()]).toEqual([400, expect.stringContaining('no pixels')]);
  });

  it('lets pages of the app frame a PDF, and all pages where its owner lists none', async () => {
    const { body } = await bed.upload('%PDF-1.7\n%', { name: 'a.html' });
    const policy = async (headers = {}) => {
      const answer = await bed.get(body.url, { headers });
      return [answer.status, answer.headers.get('content-security-policy')];
    };
    expect(await policy()).toEqual([200, 'frame-ancestors *']);
    const { headers } = await bed.get(body.url);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': expect.stringMatching(/^inline; filename="?a.html/),
      'cache-control': 'public, no-cache',
      'x-content-type-options': 'nosniff',
    });
    const known = { 'if-none-match': headers.get('etag') ?? '' };

    const odd = 'https://a;sandbox';
    bed.project.verifiedOrigins = ['https://b.example'];
    expect(await policy()).toEqual([200, 'frame-ancestors *']);
    bed.project.settings = { allowedOrigins: ['http://localhost:3000', odd, 'https://a.example'] };
    const own = "frame-ancestors 'self' http://localhost:3000 https://a.example https://b.example";
    expect(await policy()).toEqual([200, own]);
    expect(await policy(known)).toEqual([304, own]);

    const many = Array.from({ length: 100 }, (_, n) => `https://${`${n}`.padStart(250, 'a')}`);
    bed.project.settings = { allowedOrigins: many };
    expect(String((await policy())[1]).length).toBeLessThan(10_001);

    bed.project.isUnavailable = true;
    expect((await policy())[0]).toBe(503);
    expect(await getStatus(open)).toBe(200);
    Object.assign(bed.project, { isUnavailable: false, settings: {} });
  });

  it('lets a caller go in the middle and serves the next one', async () => {
    const { body } = await bed.upload(makeRandomContent(20 * 1024 * 1024));
    for (let n = 0; n < 5; n++) {
      const gone = new AbortController();
      const response = await fetch(bed.http.url + servicePath(body.url), {
        headers: { [identityHeader]: signed(anonymous(), storageRoutes.getFile) },
        signal: gone.signal,
      });
      await response.body?.getReader().read();
      gone.abort();
    }
    expect((await bed.get(body.url)).bytes).toHaveLength(20 * 1024 * 1024);
  });

  it('closes the file of a caller who has gone before it was open', async () => {
    const gone = Promise.withResolvers<void>();
    const opening = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<Readable>();
    const server = await serveForTest((req, res) => {
      res.once('close', gone.resolve);
      bed.service.app(req, res);
    });
    const openNow = bed.store.open;
    bed.store.open = async (...given) => {
      opening.resolve();
      await gone.promise;
      const stream = await openNow(...given);
      opened.resolve(stream);
      return stream;
    };
    const caller = new AbortController();
    const headers = { [identityHeader]: signed(anonymous(), storageRoutes.getFile) };
    const call = fetch(server.url + servicePath(open), { headers, signal: caller.signal });
    await opening.promise;
    caller.abort();
    await expect(call).rejects.toThrow();
    await once(await opened.promise, 'close');
    bed.store.open = openNow;
    await server.stop();
  });
});
