import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';
import { createDiscardBody, type Listening, serve } from '@backlot/http';
import { createRegistry } from '@backlot/telemetry';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestBed, operatorToken, secretKey, type TestBed } from './testing/test-bed.ts';

/** Bytes as they go over the wire, both ways; a connection that nobody ends is given up. */
const exchange = (port: number, head: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(head, 'latin1'));
    socket.setTimeout(10_000, () => socket.destroy());
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? undefined : reject(error),
    );
    socket.on('close', () => resolve(answer));
  });

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4);
const list = '/api/runtime/demo/db/notes';
const events = '/api/runtime/demo/events?collections=notes';

describe('gateway on the wire', () => {
  let bed: TestBed;
  let listening: Listening;
  beforeAll(async () => {
    bed = await createTestBed({ deps: { discardBody: createDiscardBody({ maxMs: 300 }) } });
    listening = await serve(bed.gateway.app, { port: 0, host: '127.0.0.1' });
  });
  afterAll(async () => {
    await listening.stop();
    await bed.close();
  });
  const send = (head: string) => exchange(listening.port, head);
  const get = (target: string, headers = '') =>
    send(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`);

  it('takes an address in absolute form', async () => {
    const answer = await get(`http://X${list}?limit=1`);
    expect(statusOf(answer)).toBe(200);
    expect(bed.seen.at(-1)?.url).toBe('/db/notes?limit=1');
    expect(statusOf(await get('http://x/nothing'))).toBe(404);
  });

  it.each([
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n'],
    ['one length twice', 'Content-Length: 5\r\nContent-Length: 5\r\n'],
    ['a list of lengths', 'Content-Length: 5, 5\r\n'],
    ['two codings', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'],
    ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n'],
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'],
    ['an unknown coding', 'Transfer-Encoding: chunked, gzip\r\n'],
    ['a length that is no number', 'Content-Length: 5x\r\n'],
    ['a header without a name', ': x\r\n'],
    ['a folded header', 'X-A: 1\r\n 2\r\n'],
  ])('refuses %s and ends the connection', async (_name, headers) => {
    const before = bed.seen.length;
    const answer = await send(
      `POST ${list} HTTP/1.1\r\nHost: x\r\n${headers}\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n`,
    );
    expect(statusOf(answer)).toBe(400);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(bed.seen).toHaveLength(before);
  });

  it.each([
    ['two hosts', list, 'Host: x\r\n', 'invalid_header'],
    ['two other hosts', list, 'hOST: elsewhere\r\n', 'invalid_header'],
    ['two credentials', list, 'Authorization: Bearer a\r\nauthorization: b\r\n', 'invalid_header'],
    ['two types', list, 'Content-Type: a/b\r\nContent-Type: c/d\r\n', 'invalid_header'],
    ['two keys', list, 'Idempotency-Key: a\r\nIdempotency-Key: b\r\n', 'invalid_header'],
    ['an address at another host', `http://elsewhere${list}`, '', 'invalid_path'],
    ['an address at another port', `http://x:81${list}`, '', 'invalid_path'],
    ['an address with a name', `http://me@x${list}`, '', 'invalid_path'],
    ['two hosts of a page', '/', 'Host: x\r\n', 'invalid_header'],
  ])('refuses %s', async (_name, target, headers, code) => {
    const before = bed.seen.length;
    const answer = await get(target, headers);
    expect([statusOf(answer), JSON.parse(bodyOf(answer)).code]).toEqual([400, code]);
    expect(bed.seen).toHaveLength(before);
  });

  it('refuses what is no host, and none', async () => {
    for (const host of ['Host: x, y\r\n', 'Host: x/y\r\n', 'Host: me@x\r\n', ''])
      expect([
        host,
        statusOf(await send(`GET ${list} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)),
      ]).toEqual([host, 400]);
    for (const host of ['x:8080', '[::1]:8080', 'a-b.example.', 'xn--bcher-kva.example'])
      expect(
        statusOf(await send(`GET ${list} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)),
      ).toBe(200);
  });

  it('refuses a head of more than 32 KB', async () => {
    const answer = await get(list, `X-Long: ${'x'.repeat(40_000)}\r\n`);
    expect(statusOf(answer)).toBe(431);
    expect(JSON.parse(bodyOf(answer))).toMatchObject({ code: 'request_head_too_large' });
  });

  it('takes one credential and no more', async () => {
    const key = `Authorization: Bearer ${secretKey}\r\n`;
    expect(statusOf(await get(list, key))).toBe(200);
    for (const headers of [
      'Authorization:\r\n',
      'Authorization: Bearer\r\n',
      `Authorization: Basic ${secretKey}\r\n`,
      `Authorization: Bearer ${secretKey} x\r\n`,
      `Authorization: Bearer ${'x'.repeat(9000)}\r\n`,
      'Authorization: Bearer a.b.c\r\n',
    ]) {
      const answer = await get(list, headers);
      expect([headers.slice(0, 40), statusOf(answer)]).toEqual([headers.slice(0, 40), 401]);
      expect(answer).toMatch(/\r\nWWW-Authenticate: Bearer\r\n/);
      expect(JSON.parse(bodyOf(answer))).toMatchObject({ code: 'invalid_token' });
    }
    expect(statusOf(await get(list, `authorization: bEaReR ${operatorToken}\r\n`))).toBe(200);
  });

  it('reads a body to its end before it answers the next call on the connection', async () => {
    const refused = `POST /api/runtime/nothing/x HTTP/1.1\r\nHost: x\r\nContent-Length: 3000\r\n\r\n${'x'.repeat(3000)}`;
    const answer = await send(
      `${refused}GET ${list} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });

  it('cuts a refused body that has no end', async () => {
    const chunk = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`;
    const head = `POST /api/runtime/nothing/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const written = await new Promise<number>((resolve) => {
      let count = 0;
      const socket = connect(listening.port, '127.0.0.1', () => {
        socket.write(head);
        const more = () => {
          while (count < 1000) {
            count++;
            if (!socket.write(chunk)) return void socket.once('drain', more);
          }
        };
        more();
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(count));
    });
    expect(written).toBeLessThan(1000);
  });

  it('counts a call that a stop cuts as 503, one whose caller left as 499, and a stream that was left as answered', async () => {
    const registry = createRegistry('gateway');
    const arrivals: (() => void)[] = [];
    const silent = await createTestBed({
      service: () => (_req, res) => {
        res.writeHead(200).write('x');
        arrivals.shift()?.();
      },
      deps: { registry },
    });
    const server = await serve(silent.gateway.app, { port: 0 });
    const call = (path = list) =>
      new Promise<ClientRequest>((resolve) => {
        const req = request({ port: server.port, path });
        req.on('error', () => {});
        arrivals.push(() => resolve(req));
        req.end();
      });
    const counted = async (status: number) => {
      const text = await registry.getSingleMetricAsString('backlot_http_requests_total');
      return text.includes(`status="${status}"`);
    };
    const stream = await call(events);
    await once(stream, 'response');
    stream.destroy();
    await until(() => counted(200));
    expect(await counted(499)).toBe(false);
    (await call()).destroy();
    await until(() => counted(499));
    await call();
    await server.stop(AbortSignal.abort());
    await until(() => counted(503));
    await silent.close();
  });

  it("answers whatever comes with the contract's failure or with success, never with a 5xx", async () => {
    const printable = fc.string({
      unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)),
      maxLength: 60,
    });
    const piece = fc.oneof(
      fc.constantFrom(
        '/',
        '//',
        '..',
        '.',
        '%2e%2e',
        '%2F',
        '%00',
        '%',
        '%zz',
        '%C3%28',
        '\\',
        ';',
        ':',
        '#',
        '?',
        '&',
        '*',
        '_count',
        'demo',
        'db',
        'auth',
        'me',
        'projects',
      ),
      printable,
    );
    const target = fc
      .tuple(
        fc.constantFrom(
          '',
          '/',
          '/api/',
          '/api/runtime/',
          '/api/runtime/demo/',
          '/api/runtime/demo/db/',
          '/api/platform/',
          '/docs/',
          'http://h/api/',
        ),
        fc.array(piece, { maxLength: 6 }),
      )
      .map(([base, rest]) => base + rest.join(''));
    const header = fc.oneof(
      fc
        .tuple(
          fc.constantFrom(
            'Authorization',
            'X-Request-Id',
            'X-Backlot-Identity',
            'X-Forwarded-For',
            'Connection',
            'Expect',
            'Content-Type',
            'Idempotency-Key',
            'Origin',
            'Upgrade',
            'Accept-Encoding',
            'Content-Encoding',
          ),
          fc.oneof(
            printable,
            fc.constantFrom(
              'Bearer x',
              `Bearer ${secretKey}`,
              'chunked',
              'upgrade',
              'close',
              '100-continue',
            ),
          ),
        )
        .map(([name, value]) => `${name}: ${value}\r\n`),
    );
    const method = fc.constantFrom(
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
      'TRACE',
      'PROPFIND',
      'QUERY',
      'CONNECT',
      'x',
    );
    await fc.assert(
      fc.asyncProperty(
        method,
        target,
        fc.array(header, { maxLength: 4 }),
        async (verb, where, headers) => {
          const answer = await send(
            `${verb} ${where} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers.join('')}\r\n`,
          );
          const status = statusOf(answer);
          expect([status, status < 500]).toEqual([status, true]);
          const body = bodyOf(answer);
          if (status >= 400 && body !== '' && verb !== 'HEAD')
            expect(JSON.parse(body)).toMatchObject({
              error: expect.any(String),
              code: expect.any(String),
            });
        },
      ),
      { numRuns: 400 },
    );
  });
});
