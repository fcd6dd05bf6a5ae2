import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallBatch, LoggedCall } from '@backlot/contract';
import { until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  ownerId,
  secretKey,
  type TestBed,
  type TestBedOptions,
  userId,
} from './testing/test-bed.ts';

const times = { gatherMs: 5, sumMs: 5, retryMs: 5, giveUpMs: 100 };
const base = '/api/runtime/demo';
const id = '018f0000-0000-7000-8000-00000000cccc';

/** Refuses everything in these words. */
const refusing =
  (words: object, status = 400): RequestListener =>
  (req, res) => {
    req.resume().once('end', () => {
      const text = JSON.stringify({ code: 'invalid_body', requestId: '', ...words });
      res.writeHead(status, {
        'Content-Type': 'application/json; charset=utf-8',
        'x-backlot-failure': Buffer.from('{"fields":["title"]}').toString('base64url'),
      });
      res.end(text);
    });
  };

describe('the log of calls', () => {
  let bed: TestBed | undefined;
  afterEach(() => bed?.close());
  const start = async ({ deps, ...rest }: TestBedOptions = {}) => {
    bed = await createTestBed({ ...rest, deps: { callLogTimes: times, ...deps } });
    return bed;
  };
  const readLines = ({ fake }: TestBed, projectNumber = 1001): LoggedCall[] =>
    fake.batches
      .flatMap(({ projects }) => projects)
      .filter((part) => part.projectNumber === projectNumber)
      .flatMap(({ calls }) => calls);
  const waitForLines = async (on: TestBed, count: number) => {
    await until(() => readLines(on).length >= count);
    return readLines(on);
  };

  it('has each call with its route, caller, status and bytes', async () => {
    const on = await start();
    await on.call('GET', `${base}/db/notes/${id}?where={"a":1}`, {
      token: on.token(),
      headers: { origin: 'https://shop.example:8443/x', 'x-request-id': 'mine-1' },
    });
    await on.call('POST', `${base}/db/notes`, { token: secretKey, body: { data: {} } });
    await on.call('GET', `${base}/llms.txt`, { token: secretKey });
    const [read, write, document] = await waitForLines(on, 3);
    expect(read).toMatchObject({
      requestId: 'mine-1',
      method: 'GET',
      route: '/db/:collection/:id',
      path: `/db/notes/${id}`,
      status: 200,
      code: null,
      fields: null,
      caller: 'user',
      userId,
      keyId: null,
      address: '127.0.0.0/24',
      client: 'shop.example:8443',
      requestBytes: null,
      millicredits: 0,
      skipped: 0,
    });
    expect(read?.responseBytes).toBeGreaterThan(100);
    expect(write).toMatchObject({
      caller: 'key',
      keyId: 'key-1',
      userId: null,
      requestBytes: 11,
      client: null,
    });
    expect(document).toMatchObject({ path: '/llms.txt', status: 200 });
  });

  it('adds up all calls, refused ones and those to no project too, with what services say of them', async () => {
    const on = await start({
      service: () => (req, res) => {
        req.resume().once('end', () => {
          res.writeHead(200, { 'Content-Type': 'application/json', 'x-backlot-work': '1500 250' });
          res.end('{}');
        });
      },
    });
    const answer = await on.call('GET', `${base}/db/notes`);
    expect(answer.headers.get('x-backlot-work')).toBeNull();
    await on.call('POST', `${base}/db/notes`, { body: { data: {} } });
    await on.call('GET', `${base}/db/notes`, { token: 'wrong' });
    await on.call('GET', '/api/runtime/unknown1/db/notes');
    await on.call('GET', '/api/platform/projects', { token: on.token({ aud: 'platform' }) });
    const read = () => on.fake.batches.flatMap(({ sums }) => sums?.items ?? []);
    const ofKind = (kind: string) => read().filter((item) => item.kind === kind);
    const count = (kind: string) => ofKind(kind).reduce((all, { calls }) => all + calls, 0);
    await until(() => count('route') === 5 && count('address') === 5);
    const find = (projectNumber: number, name: string) =>
      ofKind('route').filter((item) => item.projectNumber === projectNumber && item.name === name);
    const listed = find(1001, 'listRecords');
    const total = (items: typeof listed, of: 'calls' | 'errors' | 'databaseUs' | 'bytes') =>
      items.reduce((all, item) => all + item[of], 0);
    expect(total(listed, 'calls')).toBe(2);
    expect(total(listed, 'errors')).toBe(1);
    expect(total(listed, 'databaseUs')).toBe(1500);
    expect(total(listed, 'bytes')).toBeGreaterThan(200);
    expect(find(1001, 'createRecord')).toHaveLength(1);
    expect(find(0, 'none')).toMatchObject([{ errors: 1 }]);
    expect(find(1, 'listProjects')).toHaveLength(1);
    for (const { name } of ofKind('address')) expect(name).toBe('127.0.0.0/24');
  });

  it('believes no length of a body that does not come', async () => {
    const on = await start();
    const server = createServer(on.gateway.app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const headers = { 'content-length': '900000000', authorization: 'Bearer wrong' };
    const path = `${base}/db/notes`;
    const call = request({ port, method: 'POST', path, headers });
    call.on('error', () => {}).flushHeaders();
    const [answer] = await once(call, 'response');
    expect(answer.statusCode).toBe(401);
    call.destroy();
    await until(() => on.fake.batches.some(({ sums }) => sums));
    for (const { bytes } of on.fake.batches.flatMap(({ sums }) => sums?.items ?? []))
      expect(bytes).toBeLessThan(100_000);
    server.close();
  });

  it('has of a failure what was answered, and nothing of it reaches the caller that is for the log', async () => {
    const words = { error: '"title" is missing.', hint: 'Send {"title": "…"}.' };
    const on = await start({ service: () => refusing(words) });
    const answer = await on.call('POST', `${base}/db/notes`, { body: { data: {} } });
    expect(answer.headers.get('x-backlot-failure')).toBeNull();
    const [line] = await waitForLines(on, 1);
    expect(line).toMatchObject({
      status: 400,
      code: 'invalid_body',
      ...words,
      fields: ['title'],
      caller: 'visitor',
    });
  });

  it('has calls that the gateway refuses, and those to no route', async () => {
    const on = await start();
    await on.call('GET', `${base}/db/notes`, { token: 'wrong' });
    await on.call('GET', `${base}/todos/1`);
    await on.call('GET', '/api/runtime/paused/db/notes');
    const [unknown, none] = await waitForLines(on, 2);
    expect(unknown).toMatchObject({ status: 401, code: 'invalid_token', caller: 'visitor' });
    expect(none).toMatchObject({ status: 404, route: null, path: '/todos/1' });
    expect(none?.hint).toContain('/db/<collection>');
    await until(() => readLines(on, 1003).length === 1);
    expect(readLines(on, 1003)[0]).toMatchObject({ status: 403, code: 'project_paused' });
  });

  it('has calls of the control plane for whoever may make them, and those of no stranger', async () => {
    const on = await start();
    const owner = on.token({ aud: 'platform', sub: ownerId });
    const stranger = on.token({ aud: 'platform', sub: userId });
    for (const token of [stranger, owner]) {
      await on.call('GET', '/api/platform/projects/demo/users', { token });
      await on.call('GET', '/api/platform/projects/demo/requests', { token });
    }
    await on.call('GET', '/api/platform/projects/demo/webhooks/x', { token: owner });
    const lines = await waitForLines(on, 2);
    expect(lines.map(({ path, caller, userId: user }) => [path, caller, user])).toEqual([
      ['/api/platform/projects/demo/users', 'owner', null],
      ['/api/platform/projects/demo/webhooks/:name', 'owner', null],
    ]);
    expect(readLines(on, 1)).toEqual([]);
  });

  it('shows no value, token or full address of a call, however it fails', async () => {
    const secret = () => randomBytes(24).toString('base64url');
    const key = `bk_${randomBytes(32).toString('base64url')}`;
    const [value, password, token] = [secret(), 'correct horse battery', secret()];
    const echo = (req: IncomingMessage) =>
      `"${req.url}" ${JSON.stringify(req.headers)} ${decodeURIComponent(req.url ?? '')} ada@example.com ${key}`;
    const on = await start({
      service: () => (req, res) => refusing({ error: echo(req), hint: echo(req) })(req, res),
    });
    const query = new URLSearchParams({
      token: password,
      where: JSON.stringify({ pet: 'Mr Whiskers the cat', n: { $gt: 12345 } }),
      value,
    });
    const headers = {
      authorization: `Bearer ${key}`,
      cookie: `session=${token}`,
      'x-api-key': token,
      referer: `https://app.example/?code=${value}`,
      'user-agent': token,
      origin: `https://ada:${token}@shop.example/${value}`,
      'idempotency-key': key,
    };
    const paths = [
      `/db/notes/${value}`,
      `/db/${key}`,
      `/nowhere/${key}/ada@example.com/${value}`,
      `/storage/files/${id}/${token}`,
      `/db/notes/${id}/_shares/ada@example.com`,
      '/db/notes',
    ];
    for (const path of paths)
      for (const method of ['GET', 'POST', 'DELETE'])
        await on.call(method, `${base}${path}?${query}`, {
          headers: method === 'DELETE' ? { ...headers, authorization: '' } : headers,
          ...(method === 'POST' && { body: { password, [key]: value } }),
        });
    const lines = await waitForLines(on, 3 * paths.length);
    const text = JSON.stringify(lines);
    const secrets = [value, token, key, password, 'Whiskers', '12345', 'ada@', '127.0.0.1'];
    for (const one of secrets) expect(text).not.toContain(one);
    expect(new Set(lines.map(({ status }) => status >= 400))).toEqual(new Set([true]));
  });

  it('cuts what is long, and holds nothing that a terminal or a page would obey', async () => {
    const long = 'x'.repeat(1_000_000);
    const error = `\u001b[31m\u202e\0${'long and hostile '.repeat(400)}`;
    const on = await start({
      service: () => refusing({ error, hint: long, code: '<img onerror>' }),
    });
    await on.call('POST', `${base}/db/notes`, { body: { data: { long } } });
    await on.call('GET', `${base}/${'deep/'.repeat(2000)}%3Cimg%20onerror%3E`);
    const lines = await waitForLines(on, 2);
    for (const line of lines) expect(JSON.stringify(line).length).toBeLessThan(2000);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(JSON.stringify(lines)).not.toMatch(/[\0-\x1f\u202e]|\\u00|<img/);
  });

  it('keeps failures and some successes of a busy second, and counts the others', async () => {
    const on = await start();
    for (let n = 0; n < 60; n++) await on.call('GET', `${base}/db/notes`);
    for (let n = 0; n < 3; n++) await on.call('GET', `${base}/nowhere`);
    await waitForLines(on, 53);
    on.clock.now += 1000;
    await on.call('GET', `${base}/db/notes`);
    const lines = await waitForLines(on, 54);
    expect(lines).toHaveLength(54);
    expect(lines.filter(({ status }) => status === 404)).toHaveLength(3);
    expect(lines.reduce((sum, { skipped }) => sum + skipped, 0)).toBe(10);
  });

  it('goes on without the service that keeps it, hands a batch over again, and says what is missing', async () => {
    const taken: CallBatch[] = [];
    let isAway = true;
    let tries = 0;
    const on = await start({
      deps: {
        callLog: {
          async takeCalls(batch) {
            tries += 1;
            if (isAway) throw new Error('away');
            taken.push(batch);
          },
        },
      },
    });
    expect((await on.call('GET', `${base}/db/first`)).status).toBe(200);
    await until(() => tries > 1);
    isAway = false;
    await until(() => taken.length === 1);
    expect(taken[0]).toMatchObject({ number: 1, projects: [{ calls: [{ path: '/db/first' }] }] });

    isAway = true;
    await on.call('GET', `${base}/db/second`);
    const before = tries;
    await until(() => tries > before);
    on.clock.now += times.giveUpMs + 1;
    const atGiveUp = tries;
    await until(() => tries > atGiveUp);
    isAway = false;
    await on.call('GET', `${base}/db/third`);
    const later = () => taken.slice(1).flatMap(({ projects }) => projects);
    await until(() => later().some(({ calls }) => calls.length > 0));
    expect(later().flatMap(({ calls }) => calls.map(({ path }) => path))).toEqual(['/db/third']);
    expect(later().flatMap(({ lost }) => lost?.calls ?? [])).toEqual([1]);
  });
});
