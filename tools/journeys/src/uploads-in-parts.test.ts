import { randomBytes } from 'node:crypto';
import { createServer as createSite } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createClient } from '@backlot/client';
import { uploadInParts } from '@backlot/client/uploads';
import { makeRandomContent, until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const MIB = 1024 * 1024;

/** A way to the platform that breaks each time when so many more bytes have gone. */
const createFragileWay = async (target: string) => {
  let sentBytes = 0;
  const cuts: number[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const upstream = connect(Number(new URL(target).port), '127.0.0.1');
    const end = () => {
      socket.destroy();
      upstream.destroy();
    };
    for (const side of [socket, upstream]) {
      sockets.add(side);
      side.on('error', end).on('close', end);
    }
    upstream.pipe(socket);
    socket.on('data', (bytes) => {
      sentBytes += bytes.length;
      const [cut = Number.POSITIVE_INFINITY] = cuts;
      if (sentBytes < cut) {
        if (!upstream.write(bytes)) upstream.once('drain', () => socket.resume()) && socket.pause();
        return;
      }
      cuts.shift();
      end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sentBytes: () => sentBytes,
    /** @param bytes counted from now */
    cutAfter: (...bytes: number[]) => cuts.splice(0, 9, ...bytes.map((more) => sentBytes + more)),
    cutsLeft: () => cuts.length,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};

describe('a file that goes in parts', () => {
  let platform: PlatformUnderTest;
  let way: Awaited<ReturnType<typeof createFragileWay>>;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process');
    way = await createFragileWay(platform.url);
    project = await platform.newProject();
  });
  afterAll(async () => {
    way.close();
    await platform.stop();
  });

  const signedUp = async () => {
    const client = createClient(`${way.url}/api/runtime/${project.id}`);
    await client.auth.signUp({
      email: `${randomBytes(6).toString('hex')}@example.org`,
      password: 'a good long password',
    });
    return client;
  };
  const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
  const balance = async () =>
    (await platform.control('GET', '/credits', { token: project.owner.token })).body
      .balanceMillicredits;

  it('arrives whole over a connection that breaks, without all being sent again, and is paid once', async () => {
    const client = await signedUp();
    const content = makeRandomContent(24 * MIB);
    const before = await balance();
    const sentBefore = way.sentBytes();
    way.cutAfter(3 * MIB, 11 * MIB, 21 * MIB);
    const steps: number[] = [];
    const file = await uploadInParts(client, new File([content], 'Film ü.bin'), {
      onProgress: (arrived) => steps.push(arrived),
    });
    expect(way.cutsLeft()).toBe(0);
    expect(way.sentBytes() - sentBefore).toBeLessThan(2 * content.length);
    expect(steps.at(-1)).toBe(content.length);
    expect(file).toMatchObject({ name: 'Film ü.bin', size: content.length });
    expect((await bytesAt(file.url)).equals(content)).toBe(true);
    expect((await client.storage.list()).items).toMatchObject([{ id: file.id }]);
    await until(async () => (await balance()) === before - 3000);
  });

  it('goes on where it was stopped, in another client, as private as it was begun', async () => {
    const client = await signedUp();
    const content = makeRandomContent(10 * MIB);
    const stop = new AbortController();
    let id = '';
    const stopped = uploadInParts(client, new Blob([content]), {
      visibility: 'private',
      name: 'a.bin',
      signal: stop.signal,
      onOpen: (opened) => {
        id = opened;
      },
      onProgress: (arrived) => arrived >= 4 * MIB && stop.abort(),
    });
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
    const token = String(await client.transport.authorization()).replace('Bearer ', '');
    const again = createClient(`${way.url}/api/runtime/${project.id}`, { key: token });
    const steps: number[] = [];
    const file = await uploadInParts(again, new Blob([content]), {
      id,
      onProgress: (arrived) => steps.push(arrived),
    });
    expect(steps[0]).toBeGreaterThanOrEqual(4 * MIB);
    expect((await fetch(file.url)).status).toBe(404);
    const { url } = await again.storage.sign(file.id, 60);
    expect((await bytesAt(url)).equals(content)).toBe(true);
    // Of what is a file already, the answer is the file.
    expect(await uploadInParts(again, new Blob([content]), { id })).toEqual(file);
    await expect(uploadInParts(again, new Blob(['other']), { id })).rejects.toThrow('another file');
  });

  it('is refused to strangers, and what it may not be is said at once', async () => {
    const client = await signedUp();
    let id = '';
    const stop = new AbortController();
    const mine = uploadInParts(client, new Blob(['mine']), {
      signal: stop.signal,
      onOpen(opened) {
        id = opened;
        stop.abort();
      },
    });
    await expect(mine).rejects.toMatchObject({ name: 'AbortError' });
    const others = uploadInParts(await signedUp(), new Blob(['mine']), { id });
    await expect(others).rejects.toMatchObject({ code: 'not_found' });
    const tooLarge = { size: 60 * MIB, slice: () => new Blob([]) } as unknown as Blob;
    await expect(uploadInParts(client, tooLarge)).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('arrives from a page of another origin, over a connection that breaks', async () => {
    const browser = await launchChromium();
    const site = createSite((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>App</title>');
    });
    try {
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
      way.cutAfter(6 * MIB);
      const seen = await page.evaluate(
        async ([origin, base]) => {
          const { createClient: create } = await import(`${origin}/sdk.js`);
          const { uploadInParts: upload } = await import(`${origin}/sdk-uploads.js`);
          const client = create(base);
          await client.auth.signUp({ email: 'page@example.org', password: 'a good long password' });
          const file = new File([new Uint8Array(12_000_000).fill(7)], 'page.bin');
          const steps: number[] = [];
          const { url } = await upload(client, file, {
            onProgress: (arrived: number) => steps.push(arrived),
          });
          return { url, steps };
        },
        [platform.url, `${way.url}/api/runtime/${project.id}`],
      );
      expect(way.cutsLeft()).toBe(0);
      expect(seen.steps.at(-1)).toBe(12_000_000);
      expect((await bytesAt(seen.url)).equals(Buffer.alloc(12_000_000, 7))).toBe(true);
    } finally {
      await browser.close();
      site.close();
    }
  });
});
