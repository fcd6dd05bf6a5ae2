import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  operatorToken,
  ownerId,
  secretKey,
  type TestBed,
} from '../testing/test-bed.ts';

const path = '/api/platform/projects/demo/mcp';
const headers = { accept: 'application/json, text/event-stream' };
const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const count = (input: object = { collection: 'todos' }) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'count', arguments: input },
});

describe('messages of coding agents', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
  });
  afterEach(() => bed.close());

  const send = (body: unknown, token = secretKey, more: Record<string, string> = {}) =>
    bed.call('POST', path, { token, body, headers: { ...headers, ...more } });
  /** From an answer before 2026-07-28, which is one event. */
  const resultIn = ({ body }: { body: unknown }) =>
    JSON.parse(/^data: (.*)$/m.exec(String(body))?.[1] ?? 'null')?.result;

  it('become calls of the API with the credential, address and request id of who sent them', async () => {
    const owner = bed.token({ aud: 'platform', sub: ownerId });
    for (const [token, caller] of [
      [secretKey, 'key'],
      [owner, 'owner'],
      [operatorToken, 'operator'],
    ] as const) {
      const answer = await send(count(), token, { 'x-request-id': 'seen-everywhere' });
      expect(answer.status).toBe(200);
      const [call] = bed.seen.splice(0);
      expect(call).toMatchObject({
        method: 'GET',
        url: '/db/todos/_count',
        identity: { caller, ip: '127.0.0.1', project: { id: 'demo' } },
        headers: { 'x-request-id': 'seen-everywhere' },
      });
      expect(resultIn(answer).content[0].text).toContain('/db/todos/_count');
    }
  });

  it('list tools whose input needs no reference and takes no unknown parameter', async () => {
    const { tools } = resultIn(await send(listTools, operatorToken));
    expect(tools).toHaveLength(17);
    for (const { inputSchema } of tools) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(JSON.stringify(inputSchema)).not.toMatch(/\$ref|\$defs/);
    }
    expect(JSON.stringify(tools[7])).toContain('append-only');
  });

  it('count at the limits of the route and at those of each call', async () => {
    await send(count());
    const { headers } = await bed.call('GET', '/api/runtime/demo/db/todos', { token: secretKey });
    expect(headers.get('ratelimit')).toMatch(/r=11998;/);
  });

  it('get the address that a trusted proxy names', async () => {
    const behind = await createTestBed({ config: { trustedProxies: 1 } });
    await behind.call('POST', path, {
      token: secretKey,
      body: count(),
      headers: { ...headers, 'x-forwarded-for': '192.0.2.7' },
    });
    expect(behind.seen[0]?.identity.ip).toBe('192.0.2.7');
    await behind.close();
  });

  it('reach nobody for strangers', async () => {
    const others = [
      bed.token(),
      bed.token({ aud: 'platform', sub: 'another' }),
      bed.token({ aud: 'other' }),
      'bad',
    ];
    const statuses: number[] = [];
    for (const token of others) statuses.push((await send(count(), token)).status);
    expect(statuses).toEqual([401, 404, 401, 401]);
    expect((await bed.call('POST', path, { body: count(), headers })).status).toBe(401);
    const elsewhere = '/api/platform/projects/other/mcp';
    const answer = await bed.call('POST', elsewhere, { token: secretKey, body: count(), headers });
    expect(answer.body.code).toBe('invalid_token');
    expect(bed.seen).toEqual([]);
  });

  it.each<[string, unknown, number]>([
    ['no JSON', '{"jsonrpc":', 400],
    ['an empty body', '', 400],
    ['null', 'null', 400],
    ['a text', '"tools/list"', 400],
    ['an empty object', {}, 400],
    ['another version', { ...listTools, jsonrpc: '1.0' }, 400],
    ['no method', { jsonrpc: '2.0', id: 1 }, 400],
    ['a batch', [listTools, listTools], 400],
    ['a flood in a batch', Array.from({ length: 1000 }, () => count()), 400],
    [
      'a number that would be rounded',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":9007199254740993}}',
      400,
    ],
    ['a subscription', { ...listTools, method: 'subscriptions/listen' }, 400],
    ['too much', { ...listTools, params: { text: 'x'.repeat(600_000) } }, 413],
  ])('are refused where they are %s', async (_what, body, status) => {
    const answer = await send(body);
    expect(answer.status).toBe(status);
    expect(bed.seen).toEqual([]);
  });

  it('are refused in other forms and by other methods', async () => {
    expect((await send(listTools, secretKey, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await send(listTools, secretKey, { accept: 'text/html' })).status).toBe(406);
    for (const method of ['GET', 'DELETE']) {
      const answer = await bed.call(method, path, { token: secretKey });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    }
  });

  it('call tools sixty times a minute, whatever becomes of the calls', async () => {
    const codes: unknown[] = [];
    for (let n = 0; n < 62; n++) {
      const { isError, content } = resultIn(
        await send(count(n % 2 ? { collection: 1 } : undefined)),
      );
      codes.push(isError ? JSON.parse(content[0].text).code : 'done');
    }
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(2);
    expect(bed.seen).toHaveLength(30);
    expect((await send(listTools)).status).toBe(200);
    bed.clock.now += 60_000;
    expect(resultIn(await send(count())).isError).toBe(false);
  });

  it('say what the API says when a call is refused', async () => {
    const refusing = await createTestBed({
      service: () => (_req, res) => {
        res.writeHead(429, { 'Content-Type': 'application/json', 'Retry-After': '7' });
        res.end(
          JSON.stringify({ error: 'No.', code: 'rate_limited', hint: 'Wait.', requestId: 'r' }),
        );
      },
    });
    const answer = await refusing.call('POST', path, { token: secretKey, body: count(), headers });
    const { isError, content } = resultIn(answer);
    expect(isError).toBe(true);
    expect(JSON.parse(content[0].text)).toEqual({
      error: 'No.',
      code: 'rate_limited',
      hint: 'Wait.',
      requestId: 'r',
      retryAfterSeconds: 7,
    });
    await refusing.close();
  });

  it('show nothing of what breaks in a tool', async () => {
    const broken = await createTestBed({
      service: () => (_req, res) => {
        res.writeHead(500, { 'Content-Type': 'text/plain' });
        res.end('secret stack');
      },
    });
    const answer = await broken.call('POST', path, { token: secretKey, body: count(), headers });
    const { isError, content } = resultIn(answer);
    expect([isError, JSON.parse(content[0].text)]).toEqual([
      true,
      {
        error: 'Something went wrong on our side.',
        code: 'internal',
        requestId: answer.headers.get('x-request-id'),
      },
    ]);
    await broken.close();
  });

  it('read no more of an answer than a mebibyte', async () => {
    let written = 0;
    const endless = await createTestBed({
      service: () => (_req, res) => {
        res.writeHead(200, { 'Content-Type': 'application/json' });
        const write = () => {
          while (!res.destroyed && res.write('x'.repeat(65_536))) written += 65_536;
        };
        res.on('drain', write);
        write();
      },
    });
    const answer = await endless.call('POST', path, { token: secretKey, body: count(), headers });
    expect(JSON.parse(resultIn(answer).content[0].text).code).toBe('query_too_expensive');
    expect(written).toBeLessThan(4_000_000);
    await endless.close();
  });

  it('end with who sent them', async () => {
    const reached = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const waiting = await createTestBed({
      service: () => (_req, res) => {
        res.once('close', ended.resolve);
        reached.resolve();
      },
    });
    const gone = new AbortController();
    const call = fetch(waiting.url + path, {
      method: 'POST',
      signal: gone.signal,
      body: JSON.stringify(count()),
      headers: {
        ...headers,
        authorization: `Bearer ${secretKey}`,
        'content-type': 'application/json',
      },
    });
    await reached.promise;
    gone.abort();
    await expect(call).rejects.toThrow();
    await ended.promise;
    await waiting.close();
  });
});
