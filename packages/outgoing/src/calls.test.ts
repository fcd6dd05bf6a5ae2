import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isLoopbackHost, isPublicAddress, type Names } from './addresses.ts';
import { createGuardedFetch, fetchText } from './calls.ts';

const noNames: Names = {
  addresses: () => Promise.reject(new Error('no name was to be resolved')),
  texts: () => Promise.reject(new Error('no name was to be resolved')),
};
const options = { names: noNames, allowsLoopback: true, timeoutMs: 3000, maxBytes: 4096 };

describe('an address that an owner has named', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });
  const listen = async (listener: RequestListener) => {
    const started = createServer(listener);
    server = started;
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    return (started.address() as AddressInfo).port;
  };
  const url = (port: number, host = '127.0.0.1') => new URL(`http://${host}:${port}/proof`);

  it('is asked without credentials, and its text is read', async () => {
    let headers = {};
    const port = await listen((req, res) => {
      headers = req.headers;
      res.end('proof');
    });
    expect(await fetchText(url(port), options)).toBe('proof');
    expect(Object.keys(headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
    ]);
  });

  it('is sent a form and answers as by `fetch`, a redirect unfollowed', async () => {
    let got = '';
    const port = await listen(async (req, res) => {
      for await (const chunk of req) got += chunk;
      res.writeHead(302, { location: '/proof', 'content-type': 'application/json' }).end('{"a":1}');
    });
    const body = new URLSearchParams({ code: 'a&b' });
    const answer = await createGuardedFetch(options)(url(port).href, { method: 'POST', body });
    expect([answer.status, answer.headers.get('content-type'), await answer.json(), got]).toEqual([
      302,
      'application/json',
      { a: 1 },
      'code=a%26b',
    ]);
    const small = createGuardedFetch({ ...options, maxBytes: 3 });
    await expect(small(url(port).href, {})).rejects.toThrow('too long');
  });

  it.each([
    ['a redirect', (_req, res) => res.writeHead(302, { location: '/proof' }).end()],
    ['an answer that is no success', (_req, res) => res.writeHead(404).end('proof')],
    ['more than 4 KiB', (_req, res) => res.end('x'.repeat(4097))],
    ['more than 4 KiB without an end', (_req, res) => void res.write('x'.repeat(9000))],
    ['a connection that breaks off', (_req, res) => void res.destroy()],
  ] satisfies [string, RequestListener][])('is no proof with %s', async (_what, listener) => {
    let asked = 0;
    const port = await listen((req, res) => {
      asked += 1;
      listener(req, res);
    });
    await expect(fetchText(url(port), options)).rejects.toThrow();
    expect(asked).toBe(1);
  });

  it('is no proof where nothing comes in time', async () => {
    const port = await listen(() => {});
    await expect(fetchText(url(port), { ...options, timeoutMs: 100 })).rejects.toThrow();
    const names = { ...noNames, addresses: () => new Promise<string[]>(() => {}) };
    const silent = fetchText(new URL('https://shop.example/proof'), {
      ...options,
      names,
      timeoutMs: 100,
    });
    await expect(silent).rejects.toThrow();
  });

  it('is not asked on this machine, unless developers work there', async () => {
    let asked = 0;
    const port = await listen((_req, res) => {
      asked += 1;
      res.end('proof');
    });
    const closed = { ...options, allowsLoopback: false };
    for (const scheme of ['http', 'https'])
      for (const host of ['127.0.0.1', '[::1]', '127.1', '2130706433', '[::ffff:127.0.0.1]'])
        await expect(
          fetchText(new URL(`${scheme}://${host}:${port}/proof`), closed),
        ).rejects.toThrow(/must be https|not a public/);
    expect(asked).toBe(0);
  });

  it.each([
    ['127.0.0.1'],
    ['10.0.0.7'],
    ['192.168.1.1'],
    ['169.254.169.254'],
    ['100.64.0.1'],
    ['::1'],
    ['fd00::1'],
    ['fe80::1'],
    ['::ffff:10.0.0.7'],
    ['64:ff9b::a00:7'],
    ['0.0.0.0'],
  ])('is not asked where its name leads to %s, alone or among others', async (address) => {
    for (const addresses of [[address], ['93.184.215.14', address]]) {
      const names = { ...noNames, addresses: async () => addresses };
      for (const allowsLoopback of [true, false])
        await expect(
          fetchText(new URL('https://shop.example/proof'), { ...options, names, allowsLoopback }),
        ).rejects.toThrow('not a public');
    }
  });

  it('is reached at another of its addresses where one is silent', async () => {
    const port = await listen((_req, res) => res.end('proof'));
    const names = { ...noNames, addresses: async () => ['::1', '127.0.0.1'] };
    expect(await fetchText(url(port, 'shop.localhost'), { ...options, names })).toBe('proof');
  });

  it('is reached at the address that was checked, whatever the name leads to afterwards', async () => {
    let times = 0;
    const port = await listen((_req, res) => res.end('proof'));
    const names = {
      ...noNames,
      addresses: async () => [times++ === 0 ? '127.0.0.1' : '10.0.0.7'],
    };
    expect(await fetchText(url(port, 'shop.localhost'), { ...options, names })).toBe('proof');
    expect(times).toBe(1);
  });
});

describe('addresses', () => {
  it('are public or not', () => {
    expect(['93.184.215.14', '2606:2800::1'].map(isPublicAddress)).toEqual([true, true]);
    expect(['224.0.0.1', '255.255.255.255', '2002::1', 'ff02::1'].map(isPublicAddress)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it('are of this machine or not', () => {
    for (const host of ['localhost', 'shop.localhost', '127.0.0.2', '::1'])
      expect([host, isLoopbackHost(host)]).toEqual([host, true]);
    for (const host of ['mylocalhost', 'localhost.example', '127.0.0.1.example', '10.0.0.1'])
      expect([host, isLoopbackHost(host)]).toEqual([host, false]);
  });
});
