import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createLinkCode,
  createOwnerLink,
  keepCodeInMemory,
  linkPath,
  type OwnerLink,
} from './owner-link.ts';
import { keepCodeInFile, writeLinkFile } from './stack/link-file.ts';

describe.each(['memory', 'a file'])('the link that signs the owner in, its code in %s', (place) => {
  let link: OwnerLink & { path: string };
  let folder: string;
  const makeLink = async () => {
    const code = createLinkCode();
    const file = join(folder, 'link.json');
    await writeLinkFile(file, { code, owner: { email: 'a@example.com', password: 'x' } });
    const kept = place === 'memory' ? keepCodeInMemory(code) : keepCodeInFile(file);
    return { ...createOwnerLink(kept, signIn), path: linkPath(code) };
  };
  const signIn = async () => {
    signIns++;
    if (!isPasswordKnown) throw new Error('401');
    return 'the-token';
  };
  let signIns = 0;
  let isPasswordKnown = true;
  const server = createServer((req, res) => {
    if (!link.answer(req, res)) res.writeHead(404).end();
  });
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'owner-link-'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  });
  afterAll(async () => {
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    signIns = 0;
    isPasswordKnown = true;
    link = await makeLink();
  });

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<{ status: number | undefined; location: string | undefined; body: string }>(
      (resolve, reject) => {
        const { port } = server.address() as AddressInfo;
        const host = `localhost:${port}`;
        request({ host: '127.0.0.1', port, path, method, headers: { host, ...headers } }, (res) => {
          let body = '';
          res.on('data', (part) => {
            body += part;
          });
          res.on('end', () =>
            resolve({ status: res.statusCode, location: res.headers.location, body }),
          );
        })
          .on('error', reject)
          .end();
      },
    );

  it('hands the token to the first who opens it, and to nobody after, even of two at once', async () => {
    const answers = await Promise.all([get(link.path), get(link.path), get(link.path)]);
    expect(answers.filter(({ body }) => body.includes('the-token'))).toHaveLength(1);
    expect(answers.filter(({ location }) => location === '/console/?link=over')).toHaveLength(2);
    expect(signIns).toBe(1);
  });

  it.each<[string, Record<string, string>, string]>([
    ['through a proxy', { 'x-forwarded-for': '203.0.113.7' }, 'GET'],
    ['through another proxy', { forwarded: 'for=203.0.113.7' }, 'GET'],
    ['by a name that was pointed at this machine', { host: 'evil.example:8080' }, 'GET'],
    ['by another method', {}, 'POST'],
  ])('is not used up, and gives nothing away, %s', async (_how, headers, method) => {
    expect(await get(link.path, headers, method)).toEqual({
      status: 303,
      location: '/console/',
      body: '',
    });
    expect(signIns).toBe(0);
    expect((await get(link.path)).body).toContain('the-token');
  });

  it('gives nothing away for another code, and says why it leads to the sign-in', async () => {
    for (const path of ['/open-console', '/open-console?code=', `${link.path}x`])
      expect((await get(path)).location).toBe('/console/?link=over');
    expect(signIns).toBe(0);
    isPasswordKnown = false;
    expect((await get(link.path)).location).toBe('/console/?link=password');
    expect((await get('/open-console/x')).status).toBe(404);
  });
});

it('opens nothing anew in a gateway that starts again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'owner-link-'));
  const file = join(folder, 'link.json');
  await writeLinkFile(file, { code: 'c', owner: { email: 'a@example.com', password: 'x' } });
  expect(await keepCodeInFile(file).use()).toBe(true);
  const startedAgain = keepCodeInFile(file);
  expect([await startedAgain.read(), await startedAgain.use()]).toEqual([undefined, false]);
  await rm(folder, { recursive: true });
});
