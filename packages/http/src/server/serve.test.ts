import { once } from 'node:events';
import { get, type IncomingMessage, type RequestListener, request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Listening, type ServeOptions, serve } from './serve.ts';

const addresses = Object.values(networkInterfaces()).flat();
const hasIpv6 = addresses.some((address) => address?.address === '::1');
const outerAddress = addresses.find((address) => address?.family === 'IPv4' && !address.internal);

describe('serve', () => {
  let listening: Listening;
  const start = async (app: RequestListener, options: Partial<ServeOptions> = {}) => {
    listening = await serve(app, { port: 0, ...options });
    return listening;
  };
  const hello: RequestListener = (_req, res) => void res.end('hello');
  const cutNow = AbortSignal.abort();
  afterEach(() => listening.stop(cutNow));

  const ask = async (host: string, path = '/') => {
    const req = get({ host, port: listening.port, path, agent: false });
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    return { status: res.statusCode, text: (await res.toArray()).join('') };
  };

  it('is reached on both loopback addresses, and from no other machine', async () => {
    await start(hello);
    for (const host of ['127.0.0.1', 'localhost', ...(hasIpv6 ? ['::1'] : [])])
      expect(await ask(host)).toEqual({ status: 200, text: 'hello' });
    if (outerAddress)
      await expect(ask(outerAddress.address)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('listens where HOST says', async () => {
    await start(hello, { host: '::' });
    for (const host of ['127.0.0.1', outerAddress?.address ?? 'localhost'])
      expect(await ask(host)).toMatchObject({ status: 200 });
    await listening.stop();
    await start(hello, { host: '127.0.0.1' });
    expect(await ask('127.0.0.1')).toMatchObject({ status: 200 });
    if (hasIpv6) await expect(ask('::1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('refuses a port that is taken', async () => {
    const { port } = await start(hello);
    await expect(serve(hello, { port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  /** Of a call whose answer the test finishes. */
  const startSlow = async (options: Partial<ServeOptions> = {}) => {
    let finish = () => {};
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    await start((req, res) => {
      if (req.url === '/begun') res.writeHead(200).write('first');
      finish = () => void res.end('done');
      arrive();
    }, options);
    return { arrived, finish: () => finish() };
  };

  it('lets a call under way finish, and takes no new ones', async () => {
    const { arrived, finish } = await startSlow();
    const answer = ask('127.0.0.1');
    await arrived;
    const stopped = listening.stop();
    await expect(ask('127.0.0.1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    finish();
    expect(await answer).toEqual({ status: 200, text: 'done' });
    await stopped;
  });

  it('answers who is about to call on a connection from before, and ends it with that', async () => {
    await start(hello, { lingerMs: 600_000 });
    const socket = connect(listening.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    const stopped = listening.stop();
    await expect(ask('127.0.0.1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const answer = String(Buffer.concat(await socket.toArray()));
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n(.+\r\n)*Connection: close\r\n/);
    await stopped;
  });

  it.each([
    ['at the deadline', { drainMs: 50 }, undefined],
    ['when it is told to', {}, cutNow],
  ])('answers 503 %s where no answer has begun', async (_when, options, cut) => {
    const { arrived } = await startSlow(options);
    const answer = ask('127.0.0.1');
    await arrived;
    const stopped = listening.stop(cut);
    const { status, text } = await answer;
    expect([status, JSON.parse(text).code]).toEqual([503, 'unavailable']);
    await stopped;
  });

  it('cuts an answer off that has begun', async () => {
    const { arrived } = await startSlow();
    const answer = ask('127.0.0.1', '/begun');
    answer.catch(() => {});
    await arrived;
    await listening.stop(cutNow);
    await expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  /** All that comes until the connection ends. */
  const exchange = async (...pieces: string[]) => {
    const socket = connect(listening.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    for (const piece of pieces) socket.write(piece);
    await once(socket, 'close');
    return answer;
  };

  it('answers 408 to a head that takes too long, and ends the connection', async () => {
    await start(hello, { headMs: 100 });
    const answer = await exchange('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(answer).toMatch(/\r\nAccess-Control-Allow-Origin: \*\r\n/);
    expect(answer).toContain('"code":"request_timeout"');
    expect(await exchange()).toMatch(/^HTTP\/1\.1 408/);
  });

  it('reads the rest of a body that nobody waits for no longer than its time', async () => {
    await start(hello, { restMs: 100 });
    const answer = await exchange('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc');
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
  });

  it('closes connections that are not accepted', async () => {
    let isOpen = false;
    await start(hello, { acceptConnection: () => isOpen });
    await expect(ask('127.0.0.1')).rejects.toMatchObject({ code: 'ECONNRESET' });
    isOpen = true;
    expect(await ask('127.0.0.1')).toMatchObject({ status: 200 });
  });

  it('ends connections that send nothing', async () => {
    await start(hello);
    const req = request({
      port: listening.port,
      method: 'POST',
      headers: { 'content-length': 10 },
    });
    req.on('error', () => {});
    req.write('x');
    await once(req, 'socket');
    await listening.stop(cutNow);
  });
});
