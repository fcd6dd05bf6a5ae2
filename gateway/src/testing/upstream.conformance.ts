import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type RequestListener, request } from 'node:http';
import { discardBody } from '@backlot/http';
import { identityHeader } from '@backlot/identity';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Upstream } from '../upstream/upstream.ts';
import { createTestBed, type SeenCall, type TestBed } from './test-bed.ts';

export type StartUpstream = (service: RequestListener) => Promise<Upstream>;

const list = '/api/runtime/demo/db/notes';
const MIB = 1024 * 1024;

/** What every way to a service guarantees, so that a service can't tell which one it is. */
export const upstreamConformance = (name: string, start: StartUpstream): void => {
  describe(`upstream: ${name}`, () => {
    let bed: TestBed | undefined;
    /** A call that waits a thousand times for a millisecond may take long on a busy machine. */
    const slowMs = 60_000;
    const given = async (service: RequestListener, timeoutMs = 5000): Promise<TestBed> => {
      bed = await createTestBed({ service: () => service, upstream: start, deps: { timeoutMs } });
      return bed;
    };
    const givenEcho = async (): Promise<TestBed> => {
      bed = await createTestBed({ upstream: start });
      return bed;
    };
    afterEach(() => bed?.close());

    it('hands over method, path, query and body as they came', async () => {
      const { call } = await givenEcho();
      const text = JSON.stringify({ data: { text: 'ü'.repeat(300_000) } });
      const posted = await call('POST', `${list}?x=%2F&y=a+b`, { body: text });
      expect(posted.body).toMatchObject({
        method: 'POST',
        url: '/db/notes?x=%2F&y=a+b',
        body: text,
      });
      for (const method of ['PATCH', 'PUT', 'DELETE']) {
        const { body } = await call(method, `${list}/a%2Fb`);
        expect(body).toMatchObject({ method, url: '/db/notes/a%2Fb', body: '' });
      }
    });

    it('hands over a body of undeclared length', async () => {
      const { port } = await givenEcho();
      const req = request({
        port,
        path: list,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      for (let n = 0; n < 5; n++) req.write('x'.repeat(1000));
      req.end();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      const seen = JSON.parse((await res.toArray()).join('')) as SeenCall;
      expect(seen.body).toHaveLength(5000);
    });

    it('hands a large body over as it came, to a service that is slower than its caller', async () => {
      const hash = createHash('sha256');
      const { port } = await given(async (req, res) => {
        let size = 0;
        for await (const chunk of req) {
          hash.update(chunk);
          size += chunk.length;
          // The sockets on its way are full by then.
          if (size < 10 * MIB) await new Promise((resolve) => setTimeout(resolve, 1));
        }
        res.end(JSON.stringify({ size }));
      }, slowMs);
      const path = '/api/runtime/demo/storage/upload';
      const headers = { 'content-type': 'multipart/form-data; boundary=b' };
      const req = request({ port, path, method: 'POST', headers });
      const body = randomBytes(30 * MIB);
      req.end(body);
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      expect(JSON.parse((await res.toArray()).join(''))).toEqual({ size: body.length });
      expect(hash.digest('hex')).toBe(createHash('sha256').update(body).digest('hex'));
    });

    it('passes a large answer on as it came, to a caller that is slower than its service', async () => {
      const body = randomBytes(30 * MIB);
      const { port } = await given((_req, res) => {
        res.writeHead(200, { 'Content-Length': body.length });
        res.end(body);
      }, slowMs);
      const req = request({ port, path: list });
      req.end();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      const hash = createHash('sha256');
      let size = 0;
      for await (const chunk of res) {
        hash.update(chunk);
        size += chunk.length;
        if (size < 10 * MIB) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      expect(size).toBe(body.length);
      expect(hash.digest('hex')).toBe(createHash('sha256').update(body).digest('hex'));
    });

    it('replaces the identity and keeps from the service what is not its business', async () => {
      const { call, token, port } = await givenEcho();
      const sent = {
        [identityHeader]: 'forged',
        'x-forwarded-for': '6.6.6.6',
        cookie: 'a=b',
        'if-match': '"1"',
        'x-custom': 'kept',
      };
      const { body, headers } = await call('GET', list, { token: token(), headers: sent });
      expect(body.identity).toMatchObject({ caller: 'user', ip: '127.0.0.1' });
      for (const gone of ['authorization', 'x-forwarded-for', 'cookie'])
        expect(body.headers[gone]).toBeUndefined();
      expect(body.headers).toMatchObject({
        'if-match': '"1"',
        'x-custom': 'kept',
        'x-request-id': headers.get('x-request-id'),
      });

      const named = request({
        port,
        path: list,
        headers: { connection: 'close, x-named', 'x-named': '1', te: 'trailers' },
      });
      named.end();
      const [res] = (await once(named, 'response')) as [IncomingMessage];
      const seen = JSON.parse((await res.toArray()).join('')) as SeenCall;
      expect([seen.headers['x-named'], seen.headers.te]).toEqual([undefined, undefined]);
    });

    it('passes status, headers and body of the answer unchanged', async () => {
      const { call } = await given((_req, res) => {
        res.writeHead(201, {
          'Content-Type': 'application/json',
          ETag: '"7"',
          'Cache-Control': 'public',
          'X-List': ['a', 'b'],
        });
        res.end('{"made":true}');
      });
      const { status, headers, body } = await call('POST', list, { body: {} });
      expect({ status, body }).toEqual({ status: 201, body: { made: true } });
      expect(headers.get('etag')).toBe('"7"');
      expect(headers.get('cache-control')).toBe('public');
      expect(headers.get('x-list')).toBe('a, b');
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('ratelimit')).toMatch(/^"caller";r=\d+;t=\d+, "project";r=\d+;t=\d+$/);
    });

    it("passes a service's own failure unchanged", async () => {
      const text = '{"error":"No.","code":"internal","requestId":"r"}';
      const { call } = await given(
        (_req, res) => void res.writeHead(500, { 'Content-Type': 'application/json' }).end(text),
      );
      expect(await call('GET', list)).toMatchObject({ status: 500, body: JSON.parse(text) });
    });

    it('keeps answers without a body without one', async () => {
      const { call } = await given((req, res) => {
        if (req.url?.endsWith('304')) res.writeHead(304, { ETag: '"1"' }).end();
        else if (req.method === 'HEAD') res.writeHead(200, { 'Content-Length': 42 }).end();
        else res.writeHead(204).end();
      });
      expect(await call('GET', `${list}/304`)).toMatchObject({ status: 304, body: '' });
      expect(await call('DELETE', `${list}/x`)).toMatchObject({ status: 204, body: '' });
      const head = await call('HEAD', `${list}/x`);
      expect([head.status, head.body, head.headers.get('content-length')]).toEqual([200, '', '42']);
    });

    it('streams an answer while it is written', async () => {
      let finish = () => {};
      const { port } = await given((_req, res) => {
        res.writeHead(200, { 'Content-Type': 'text/plain' });
        res.write('first');
        finish = () => void res.end(' last');
      });
      const req = request({ port, path: list });
      req.end();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      const [first] = (await once(res, 'data')) as [Buffer];
      expect(first.toString()).toBe('first');
      finish();
      expect(Buffer.concat(await res.toArray()).toString()).toBe(' last');
    });

    it('never lets an answer that broke off look whole', async () => {
      const { url } = await given((_req, res) => {
        res.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 100 });
        res.write('half', () => res.destroy());
      });
      await expect(fetch(url + list).then((response) => response.text())).rejects.toThrow();
    });

    it('gives a call without an answer up with 504 and serves the next call', async () => {
      const late: (() => void)[] = [];
      const { call } = await given((req, res) => {
        if (req.url?.endsWith('slow')) late.push(() => res.end('too late'));
        else res.end('"quick"');
      }, 1500);
      const { status, body, headers } = await call('GET', `${list}/slow`);
      expect([status, body.code, body.requestId]).toEqual([
        504,
        'timeout',
        headers.get('x-request-id'),
      ]);
      for (const answerLate of late) answerLate();
      expect((await call('GET', `${list}/quick`)).status).toBe(200);
    });

    it('hands an answer over that comes before the end of an upload', async () => {
      const { port } = await given((req, res) => {
        req.once('data', () => {
          res.writeHead(413, { 'Content-Type': 'application/json' }).end('{"code":"x"}');
          void discardBody(req);
        });
      });
      const path = '/api/runtime/demo/storage/upload';
      const headers = { 'content-type': 'multipart/form-data; boundary=b' };
      const req = request({ port, path, method: 'POST', headers });
      req.on('error', () => {});
      req.write(Buffer.alloc(2 * 1024 * 1024));
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      expect([res.statusCode, (await res.toArray()).join('')]).toEqual([413, '{"code":"x"}']);
      req.destroy();
    });

    it('gives a file all the time that it moves, and cuts off one that stands still', async () => {
      let write = () => {};
      const standstillMs = 1500;
      const { port } = await given((_req, res) => {
        res.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 1000 });
        write = () => void res.write('x');
        write();
      }, standstillMs);
      const req = request({ port, path: '/api/runtime/demo/storage/files/1/a' });
      req.end();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      const gone = once(res, 'error');
      res.on('data', () => {});
      const end = performance.now() + standstillMs + 100;
      while (performance.now() < end) {
        write();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(res.errored).toBeNull();
      await gone;
    });

    it('lets the service know that the caller has gone', async () => {
      let arrived = () => {};
      const atService = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      let onClose = () => {};
      const gone = new Promise<void>((resolve) => {
        onClose = resolve;
      });
      const { port } = await given((_req, res) => {
        res.on('close', () => onClose());
        arrived();
      });
      const req = request({ port, path: list });
      req.on('error', () => {});
      req.end();
      await atService;
      req.destroy();
      await gone;
    });
  });
};
