import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { DeliveryAttempt } from '@backlot/contract';
import { until } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createReceiver, type Receiver } from '../testing/receiver.ts';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

const endless = (write: () => boolean) => {
  const timer = setInterval(write, 20);
  return () => clearInterval(timer);
};

describe('a hostile receiver', () => {
  let patient: TestBed;
  /** Its tries end soon. */
  let hasty: TestBed;
  let receiver: Receiver;
  let addresses: (host: string) => Promise<string[]>;
  beforeAll(async () => {
    const names = {
      addresses: (host: string) => addresses(host),
      texts: () => Promise.reject(new Error('no such record')),
    };
    patient = await createTestBed({ names });
    hasty = await createTestBed({ names, webhookTimeoutMs: 500 });
    await Promise.all([patient, hasty].map(({ service }) => service.start()));
  });
  afterAll(() => Promise.all([patient, hasty].map((one) => one.close())));
  beforeEach(async () => {
    receiver = await createReceiver();
    addresses = () => Promise.reject(new Error('no name was to be resolved'));
  });
  afterEach(() => receiver.close());

  /** What came of the first try. */
  const tell = async (url = receiver.url, bed = patient): Promise<DeliveryAttempt> => {
    const projectId = await bed.project();
    const identity = await bed.owner(ownerA, projectId);
    const path = `/platform/projects/${projectId}/webhooks/main`;
    const set = await bed.call('PUT', path, { identity, body: { url, on: ['payment.paid'] } });
    expect(set.status).toBe(201);
    const payload = {
      id: randomUUID(),
      projectNumber: identity.project.number,
      type: 'payment.paid',
      orderKey: 'a',
      data: {},
      occurredAt: new Date(bed.now()).toISOString(),
    };
    await bed.publish({ id: randomUUID(), topic: 'app.event', payload });
    return until(async () => {
      const { body } = await bed.call('GET', `${path}/deliveries`, { identity });
      const [delivery] = body.items as { tries: DeliveryAttempt[] }[];
      return delivery?.tries[0];
    });
  };

  it.each([
    ['a redirect', 302, (_req, res) => res.writeHead(302, { location: '/other' }).end()],
    [
      'a redirect that keeps the method',
      307,
      (_req, res) => res.writeHead(307, { location: '/' }).end(),
    ],
    [
      'a head of a megabyte',
      null,
      (req) => void req.socket.end(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(1024 * 1024)}\r\n\r\n`),
    ],
    ['something that is no HTTP', null, (req) => void req.socket.end('220 mail.example ESMTP\r\n')],
    [
      'another protocol',
      null,
      (req) =>
        void req.socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
        ),
    ],
    ['a connection that breaks off', null, (req) => void req.socket.destroy()],
    ['a failure', 500, (_req, res) => res.writeHead(500).end('secret words')],
  ] satisfies [string, number | null, RequestListener][])(
    'is no success: %s',
    async (_what, status, answer) => {
      receiver.answer = answer;
      const tried = await tell();
      expect(tried).toMatchObject({ status, error: expect.any(String) });
      expect(tried.error).not.toContain('secret words');
      expect(receiver.received).toHaveLength(1);
    },
  );

  it.each([
    ['nothing at all', () => {}],
    [
      'a head that never ends',
      (req) => {
        const stop = endless(() => req.socket.write('x'));
        req.socket.write('HTTP/1.1 200 OK\r\nx-a: ');
        req.socket.on('close', stop);
      },
    ],
    [
      'early hints without end',
      (req) => {
        const stop = endless(() => req.socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'));
        req.socket.on('close', stop);
      },
    ],
  ] satisfies [string, RequestListener][])('is left after a while: %s', async (_what, answer) => {
    receiver.answer = answer;
    expect(await tell(receiver.url, hasty)).toMatchObject({
      status: null,
      error: 'it did not answer in time',
    });
  });

  it.each([
    [
      'a body without end',
      (_req, res) => {
        const stop = endless(() => res.write('x'.repeat(60_000)));
        res.on('close', stop);
      },
    ],
    [
      'a length that is a lie',
      (_req, res) => {
        res.writeHead(200, { 'content-length': '9000000000' });
        res.write('x');
      },
    ],
    [
      'an encoding that is a lie',
      (_req, res) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip'),
    ],
  ] satisfies [string, RequestListener][])(
    'has taken it, and is left: %s',
    async (_what, answer) => {
      const closed = Promise.withResolvers<void>();
      receiver.answer = (req, res) => {
        req.socket.on('close', closed.resolve);
        answer(req, res);
      };
      expect(await tell()).toMatchObject({ status: 200, error: null });
      await closed.promise;
    },
  );

  it('is not reached where its name leads to it on the second look alone', async () => {
    let looks = 0;
    addresses = async () => [looks++ === 0 ? '127.0.0.2' : '127.0.0.1'];
    const { port } = new URL(receiver.url);
    expect(await tell(`http://shop.localhost:${port}/`)).toMatchObject({
      status: null,
      error: 'it refuses connections',
    });
    expect(looks).toBe(1);
    expect(receiver.received).toEqual([]);
  });

  it.each([
    ['127.0.0.1', 'alone'],
    ['169.254.169.254', 'among public ones'],
    ['::ffff:10.0.0.1', 'alone'],
    ['fd00:ec2::254', 'alone'],
  ])('is not asked where its name leads to %s, %s', async (address, how) => {
    addresses = async () => (how === 'alone' ? [address] : ['93.184.215.14', address]);
    expect(await tell('https://shop.example/hook')).toMatchObject({
      status: null,
      error: 'its host is not a public one',
    });
  });

  it('is not waited for where its name is not resolved', async () => {
    addresses = () => new Promise(() => {});
    expect(await tell('https://shop.example/hook', hasty)).toMatchObject({
      status: null,
      error: 'its name was not resolved in time',
    });
  });
});
