import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { makeRandomContent, until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type HttpResponse, Upload } from 'tus-js-client';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

const MIB = 1024 * 1024;

describe.each(usualModes)('resumable uploads, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  let user: { id: string; token: string };
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
    project = await platform.newProject();
    user = await platform.signUp(project.id);
  });
  afterAll(() => platform.stop());

  const endpoint = () => `${platform.url}/api/runtime/${project.id}/storage/tus`;
  const authorization = () => ({ Authorization: `Bearer ${user.token}` });
  const credits = async () =>
    (await platform.control('GET', '/credits', { token: project.owner.token })).body;
  const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

  it('go on where the caller left off, and cost what the file costs, once', async () => {
    const content = makeRandomContent(42 * MIB);
    const before = (await credits()).balanceMillicredits;
    const tus = { ...authorization(), 'tus-resumable': '1.0.0' };
    const opened = await fetch(endpoint(), {
      method: 'POST',
      headers: {
        ...tus,
        'upload-length': String(content.length),
        'upload-metadata': `filename ${Buffer.from('Film ü.bin').toString('base64')}`,
      },
    });
    const url = new URL(opened.headers.get('location') ?? '', endpoint());
    const req = request(url, {
      method: 'PATCH',
      headers: {
        ...tus,
        'upload-offset': '0',
        'content-type': 'application/offset+octet-stream',
        'content-length': content.length,
      },
    });
    req.on('error', () => {});
    await new Promise((resolve) => req.write(content.subarray(0, 15 * MIB), resolve));
    req.destroy();
    await until(async () => (await credits()).reservedMillicredits === 0);
    expect((await credits()).balanceMillicredits).toBe(before);

    const offsets: number[] = [];
    const last = await new Promise<HttpResponse>((resolve, reject) =>
      new Upload(content, {
        headers: authorization(),
        uploadUrl: url.href,
        onAfterResponse(req, res) {
          if (req.getMethod() === 'HEAD') offsets.push(Number(res.getHeader('Upload-Offset')));
        },
        onSuccess: ({ lastResponse }) => resolve(lastResponse),
        onError: reject,
      }).start(),
    );
    expect(offsets).toHaveLength(1);
    expect(offsets[0]).toBeGreaterThan(MIB);
    expect(offsets[0]).toBeLessThan(content.length);
    const fileUrl = last.getHeader('X-File-Url') ?? '';
    expect((await bytesAt(fileUrl)).equals(content)).toBe(true);
    const { body } = await project.api('GET', '/storage/files', { token: user.token });
    expect(body.items).toMatchObject([
      { id: last.getHeader('X-File-Id'), url: fileUrl, name: 'Film ü.bin', ownerId: user.id },
    ]);
    await until(async () => (await credits()).balanceMillicredits === before - 5000);
    expect((await credits()).reservedMillicredits).toBe(0);
  });

  it('of no bytes are an empty file, which costs what the smallest does', async () => {
    const before = (await credits()).balanceMillicredits;
    const last = await new Promise<HttpResponse>((resolve, reject) =>
      new Upload(Buffer.alloc(0), {
        endpoint: endpoint(),
        headers: authorization(),
        metadata: { filename: 'empty.txt' },
        retryDelays: null,
        onSuccess: ({ lastResponse }) => resolve(lastResponse),
        onError: reject,
      }).start(),
    );
    const url = last.getHeader('X-File-Url') ?? '';
    expect((await fetch(url)).status).toBe(200);
    expect(await bytesAt(url)).toHaveLength(0);
    await until(async () => (await credits()).balanceMillicredits === before - 1000);
    expect((await credits()).reservedMillicredits).toBe(0);
  });

  it('keep what came before a connection broke', async () => {
    const opened = await fetch(endpoint(), {
      method: 'POST',
      headers: { 'tus-resumable': '1.0.0', 'upload-length': '5000000' },
    });
    expect([opened.status, opened.headers.get('tus-resumable')]).toEqual([201, '1.0.0']);
    const url = new URL(opened.headers.get('location') ?? '', endpoint());
    const req = request(url, {
      method: 'PATCH',
      headers: {
        'tus-resumable': '1.0.0',
        'upload-offset': '0',
        'content-type': 'application/offset+octet-stream',
        'content-length': '5000000',
      },
    });
    req.on('error', () => {});
    await new Promise((resolve) => req.write(Buffer.alloc(2_000_000, 7), resolve));
    const head = async () => fetch(url, { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } });
    // Who asks ends the call before, which answers how far it came.
    const answered = new Promise((resolve) => req.once('response', resolve));
    await until(async () => Number((await head()).headers.get('upload-offset')) > 0);
    await answered;
    req.destroy();
    const asked = await head();
    expect(asked.status).toBe(200);
    expect(asked.headers.get('cache-control')).toBe('no-store');
    expect(asked.headers.get('upload-length')).toBe('5000000');
    const ended = await fetch(url, { method: 'DELETE', headers: { 'tus-resumable': '1.0.0' } });
    expect(ended.status).toBe(204);
    expect((await head()).status).toBe(404);
  });

  it('work from a page of another origin', async () => {
    const site = createServer((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Shop</title>');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const browser = await launchChromium();
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    const client = new URL('../../dist/tus.min.js', import.meta.resolve('tus-js-client'));
    await page.addScriptTag({ path: fileURLToPath(client) });
    const seen = await page.evaluate(`new Promise((resolve, reject) => {
      const file = new File([new Uint8Array(3_000_000).fill(7)], 'page.bin');
      new tus.Upload(file, {
        endpoint: ${JSON.stringify(endpoint())},
        headers: ${JSON.stringify(authorization())},
        metadata: { filename: file.name },
        chunkSize: 1_000_000,
        onSuccess: ({ lastResponse }) => resolve(lastResponse.getHeader('X-File-Url')),
        onError: reject,
      }).start();
    })`);
    const content = await bytesAt(String(seen));
    expect(content.equals(Buffer.alloc(3_000_000, 7))).toBe(true);
    await browser.close();
    site.closeAllConnections();
    await new Promise((resolve) => site.close(resolve));
  });
});
