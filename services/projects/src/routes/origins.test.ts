import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { originRoutes, type RouteDefinition } from '@backlot/contract';
import { asKey, asUser, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, dayMs, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

const missing = '018f0000-0000-7000-8000-00000000ffff';

describe('origins of an app', () => {
  let bed: TestBed;
  let projectId: string;
  let server: Server;
  /** What the app's server has at the well-known path. */
  let file = '';
  let local: string;
  let records: Record<string, string[][]> = {};
  beforeAll(async () => {
    server = createServer((req, res) => {
      const isProof = req.url === '/.well-known/backlot-verification';
      res.writeHead(isProof && file !== '' ? 200 : 404).end(file);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    local = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    bed = await createTestBed({
      publicUrl: 'http://localhost:8080',
      names: {
        addresses: () => Promise.reject(new Error('no such host')),
        texts: async (name) => records[name] ?? Promise.reject(new Error('no such record')),
      },
    });
  });
  afterAll(async () => {
    await bed.close();
    server.close();
  });
  beforeEach(async () => {
    [file, records] = ['', {}];
    await bed.database.query('DELETE FROM origin_checks');
    projectId = await bed.project();
    await bed.takeEvents();
  });

  for (const [route, rest] of [
    [originRoutes.addOrigin, ''],
    [originRoutes.listOrigins, ''],
    [originRoutes.verifyOrigin, `/${missing}/verify`],
    [originRoutes.removeOrigin, `/${missing}`],
  ] satisfies [RouteDefinition, string][])
    refusesStrangers(
      route,
      () => bed.http,
      () => ({
        path: `/projects/${projectId}/origins${rest}`,
        body: { origin: 'https://shop.example' },
      }),
    );

  const call = async (
    method: string,
    rest = '',
    body?: unknown,
    { ownerId = ownerA, headers = {}, ip = '192.0.2.1' } = {},
  ) =>
    bed.call(method, `/platform/projects/${projectId}/origins${rest}`, {
      identity: { ...(await bed.owner(ownerId, projectId)), ip },
      headers,
      ...(body === undefined ? {} : { body }),
    });
  const add = async (origin: string) => (await call('POST', '', { origin })).body;
  const verify = (id: string, options = {}) => call('POST', `/${id}/verify`, undefined, options);
  const verified = async () =>
    (await bed.service.directories.projects.findProject(projectId))?.verifiedOrigins;

  it('are named, and say where the proof is looked for', async () => {
    const first = await call('POST', '', { origin: 'https://shop.example' });
    expect(first.status).toBe(201);
    const { token } = { token: first.body.file.content };
    expect(token).toMatch(/^[\w-]{32}$/);
    expect(first.body).toEqual({
      id: expect.any(String),
      origin: 'https://shop.example',
      verifiedAt: null,
      checkedAt: null,
      createdAt: expect.any(String),
      file: { url: 'https://shop.example/.well-known/backlot-verification', content: token },
      dns: { name: '_backlot.shop.example', value: `backlot-verification=${token}` },
    });
    const second = await add(local);
    expect(second.dns).toBeNull();
    expect((await call('GET')).body.items).toEqual([first.body, second]);
    expect(await verified()).toBeUndefined();
    expect(await bed.takeEvents()).toEqual([]);
  });

  it.each(['http://shop.example', 'https://shop.example/path', 'ftp://shop.example', 'shop'])(
    'are not named %s',
    async (origin) => {
      const answer = await call('POST', '', { origin });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
      expect(answer.body.error).toContain('"origin"');
    },
  );

  it('are not of this machine where the installation is public', async () => {
    const elsewhere = await createTestBed();
    const id = await elsewhere.project();
    const answer = await elsewhere.call('POST', `/platform/projects/${id}/origins`, {
      identity: await elsewhere.owner(ownerA, id),
      body: { origin: 'https://localhost:5173' },
    });
    await elsewhere.close();
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
  });

  it('are named once, twenty at most, also in parallel', async () => {
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, n) => call('POST', '', { origin: `https://s${n}.example` })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(20).fill(201), ...Array(5).fill(403)]);
    expect(answers.find(({ status }) => status === 403)?.body.code).toBe('origin_limit');
    const [taken] = answers.filter(({ status }) => status === 201);
    const again = await call('POST', '', { origin: taken?.body.origin });
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('are verified by the file, once it holds the token', async () => {
    const origin = await add(local);
    expect(await verify(origin.id)).toMatchObject({
      status: 409,
      body: { code: 'origin_unproven', hint: expect.stringContaining(origin.file.content) },
    });
    file = 'another token';
    expect((await verify(origin.id)).status).toBe(409);
    expect(await verified()).toBeUndefined();
    expect(await bed.takeEvents()).toEqual([]);
    file = `${origin.file.content}\n`;
    const headers = { 'idempotency-key': 'proof' };
    const proven = await verify(origin.id, { headers });
    expect(proven).toMatchObject({ status: 200, body: { id: origin.id, origin: local } });
    expect(proven.body.verifiedAt).toBe(new Date(bed.now()).toISOString());
    expect((await verify(origin.id, { headers })).body).toEqual(proven.body);
    expect(await verified()).toEqual([local]);
    expect((await bed.takeEvents()).map(({ topic }) => topic)).toEqual(['project.changed']);
  });

  it('lead their host names to the first project that has proven them', async () => {
    const { findHost } = bed.service.directories.hosts;
    const prove = async () => {
      const origin = await add('https://api.shop.example');
      records = { [origin.dns.name]: [[origin.dns.value]] };
      expect(await findHost('api.shop.example')).toEqual(holder);
      expect((await verify(origin.id)).status).toBe(200);
      return origin.id;
    };
    let holder: { projectId: string } | null = null;
    const first = projectId;
    const proven = await prove();
    holder = { projectId: first };
    projectId = await bed.project();
    await prove();
    expect(await findHost('api.shop.example')).toEqual(holder);
    const second = projectId;
    projectId = first;
    await call('DELETE', `/${proven}`);
    expect(await findHost('api.shop.example')).toEqual({ projectId: second });
    expect(await findHost('shop.example')).toBeNull();
  });

  it('are verified by the TXT record, in parts too', async () => {
    const origin = await add('https://shop.example');
    records = { '_backlot.shop.example': [['v=spf1'], ['backlot-verification=wrong']] };
    expect((await verify(origin.id)).status).toBe(409);
    const { value } = origin.dns;
    records = { '_backlot.shop.example': [['v=spf1'], [value.slice(0, 10), value.slice(10)]] };
    expect((await verify(origin.id)).status).toBe(200);
    expect(await verified()).toEqual(['https://shop.example']);
  });

  it('prove nothing for another project that finds the same file', async () => {
    const origin = await add(local);
    file = origin.file.content;
    projectId = await bed.project(ownerB);
    const ofOther = (await call('POST', '', { origin: local }, { ownerId: ownerB })).body;
    expect((await verify(ofOther.id, { ownerId: ownerB })).status).toBe(409);
    expect((await verify(origin.id, { ownerId: ownerB })).status).toBe(404);
  });

  it('are checked as often as an owner and an address may ask, in parallel too', async () => {
    const origin = await add(local);
    file = origin.file.content;
    const check = (n: number) => verify(origin.id, { ip: `192.0.2.${n % 40}` });
    const answers = [];
    for (let n = 0; n < 40; n += 4)
      answers.push(...(await Promise.all([n, n + 1, n + 2, n + 3].map(check))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(30);
    const refused = answers.find(({ status }) => status !== 200);
    expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_attempts' } });
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    bed.pass(60 * 60_000);
    await bed.database.query("INSERT INTO origin_checks SELECT sha256('x'), now(), 1");
    expect((await check(1)).status).toBe(200);
  });

  it('are forgotten at once when they are removed', async () => {
    const origin = await add(local);
    file = origin.file.content;
    await verify(origin.id);
    await bed.takeEvents();
    expect((await call('DELETE', `/${origin.id}`)).status).toBe(200);
    expect(await verified()).toBeUndefined();
    expect((await bed.takeEvents()).map(({ topic }) => topic)).toEqual(['project.changed']);
    expect((await call('DELETE', `/${origin.id}`)).status).toBe(404);
  });

  it('are looked at again after a week, and given up after three days without proof', async () => {
    const origin = await add(local);
    file = origin.file.content;
    await verify(origin.id);
    file = '';
    const recheckAfter = async (days: number) => {
      bed.pass(days * dayMs + 1);
      await bed.service.recheckOrigins();
      return verified();
    };
    expect(await recheckAfter(6)).toEqual([local]);
    expect((await call('GET')).body.items[0].checkedAt).toBe(
      new Date(bed.now() - 6 * dayMs - 1).toISOString(),
    );
    expect(await recheckAfter(1)).toEqual([local]);
    expect(await recheckAfter(1)).toEqual([local]);
    file = origin.file.content;
    expect(await recheckAfter(1)).toEqual([local]);
    file = '';
    await bed.takeEvents();
    expect(await recheckAfter(7)).toEqual([local]);
    expect(await recheckAfter(1)).toEqual([local]);
    expect(await bed.takeEvents()).toEqual([]);
    expect(await recheckAfter(1)).toBeUndefined();
    expect((await bed.takeEvents()).map(({ topic }) => topic)).toEqual(['project.changed']);
  });

  it('are looked at again however many another owner has', async () => {
    await bed.database.query('DELETE FROM origins');
    const origin = await add(local);
    file = origin.file.content;
    await verify(origin.id);
    const { project } = await bed.owner(ownerB, await bed.project(ownerB));
    await bed.database.query(
      `INSERT INTO origins (project_number, id, origin, token, verified_at, checked_at, created_at)
       SELECT $1, gen_random_uuid(), 'https://' || n || '.example', 't', $2, $2, $2 FROM generate_series(1, 20) AS n`,
      [project.number, new Date(bed.now() - dayMs)],
    );
    bed.pass(8 * dayMs);
    await bed.service.recheckOrigins();
    const { items } = (await call('GET')).body;
    expect(items).toMatchObject([{ checkedAt: new Date(bed.now()).toISOString() }]);
  });

  it('are nobody else’s: users, keys and other owners of the project see none', async () => {
    const origin = await add(local);
    const project = (await bed.owner(ownerA, projectId)).project;
    for (const identity of [asUser(ownerB, { project }), asKey({ project })])
      for (const [method, rest] of [
        ['GET', ''],
        ['POST', `/${origin.id}/verify`],
        ['DELETE', `/${origin.id}`],
      ] as const) {
        const path = `/platform/projects/${projectId}/origins${rest}`;
        expect((await bed.call(method, path, { identity })).status).toBe(403);
      }
    for (const rest of [`/${origin.id}/verify`, `/${missing}/verify`])
      expect((await call('POST', rest, undefined, { ownerId: ownerB })).status).toBe(404);
    expect((await call('POST', `/${missing}/verify`)).status).toBe(404);
    expect((await call('GET')).body.items).toHaveLength(1);
  });
});
