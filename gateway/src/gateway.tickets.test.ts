import type { RequestListener } from 'node:http';
import { connectRedis, createRedisCounters } from '@backlot/counters/redis';
import type { Finding } from '@backlot/http';
import { createLogger } from '@backlot/telemetry';
import { createTestRedis, type ReceivedEvents, receiveEvents, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  operatorToken,
  projectSnapshot,
  secretKey,
  type TestBed,
  userId,
} from './testing/test-bed.ts';

const base = '/api/runtime/demo';

describe('tickets of streams', () => {
  let bed: TestBed;
  let servers: Finding[] = [];
  const opened: ReceivedEvents[] = [];
  const logged: string[] = [];
  const urls: string[] = [];
  const streamService: RequestListener = (req, res) => {
    urls.push(JSON.stringify([req.url, req.headers]));
    res.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    res.write('event: ready\ndata: {}\n\n');
  };
  beforeEach(async () => {
    servers = [];
    logged.length = 0;
    urls.length = 0;
    const log = createLogger({ service: 'gateway', level: 'debug' });
    for (const level of ['debug', 'info', 'warn', 'error'] as const)
      log[level] = ((...line: unknown[]) => logged.push(JSON.stringify(line))) as typeof log.info;
    bed = await createTestBed({
      service: () => streamService,
      deps: { log, servers: () => servers },
      config: { accessLog: true },
    });
  });
  afterEach(async () => {
    for (const stream of opened.splice(0)) stream.close();
    await bed.close();
  });

  const ask = async (token?: string) =>
    bed.call('POST', `${base}/events/ticket`, token === undefined ? {} : { token });
  const ticketOf = async (token = bed.token()): Promise<string> => (await ask(token)).body.ticket;
  const streamAt = (ticket: string, project = 'demo') =>
    `/api/runtime/${project}/events?ticket=${ticket}&collections=todos`;
  const open = async (ticket: string) => {
    const stream = await receiveEvents(bed.url + streamAt(ticket));
    opened.push(stream);
    return stream;
  };
  /** What a call that opens nothing is told. */
  const refusal = async (path: string, headers = {}) => {
    const { status, body } = await bed.call('GET', path, { headers });
    return `${status} ${body.code}: ${body.error}`;
  };

  it('open one stream of twenty that ask at once, and reach neither a service nor a log', async () => {
    const { status, body, headers } = await ask(bed.token());
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(Date.parse(body.expiresAt)).toBe(bed.clock.now + 60_000);
    const streams = await Promise.all(Array.from({ length: 20 }, () => open(body.ticket)));
    const statuses = streams.map((stream) => stream.status);
    expect(statuses.sort()).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);
    const used = '401 invalid_token: This ticket was used before.';
    expect(await refusal(streamAt(body.ticket))).toBe(used);
    expect(await refusal(streamAt(`${body.ticket}=`))).toBe(used);
    expect(urls).toHaveLength(1);
    await until(() => logged.filter((line) => line.includes('openEvents')).length >= 19);
    for (const line of [...urls, ...logged]) expect(line).not.toContain(body.ticket);
    expect(body.ticket).not.toContain(bed.token().split('.')[1]);
  });

  it('open one stream of two gateways that count in one Redis', async () => {
    const redis = await createTestRedis();
    const gateways = await Promise.all(
      [1, 2].map(async () => {
        const client = connectRedis(redis.url, { commandTimeoutMs: 60_000, onError: () => {} });
        await until(() => client.status === 'ready');
        const counters = createRedisCounters(client);
        const service = () => streamService;
        return { gateway: await createTestBed({ service, deps: { counters } }), counters };
      }),
    );
    const { gateway: first } = gateways[0] ?? { gateway: bed };
    const { body } = await first.call('POST', `${base}/events/ticket`, { token: bed.token() });
    const openAll = Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const { gateway } = gateways[n % 2] ?? { gateway: bed };
        const stream = await receiveEvents(gateway.url + streamAt(body.ticket));
        opened.push(stream);
        return stream.status;
      }),
    );
    expect((await openAll).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);
    for (const stream of opened.splice(0)) stream.close();
    for (const { gateway, counters } of gateways) {
      expect((await gateway.call('GET', streamAt(body.ticket))).body.error).toBe(
        'This ticket was used before.',
      );
      await gateway.close();
      await counters.close();
    }
    await redis.drop();
  });

  it('are good for their project, their minute and this call alone', async () => {
    const ticket = await ticketOf();
    const foreign = '401 invalid_token: This is no ticket of this project.';
    expect(await refusal(streamAt(ticket, 'other'))).toBe(foreign);
    for (const made of ['', 'x', ticket.slice(0, -4), `A${ticket.slice(1)}`, bed.token()])
      expect(await refusal(streamAt(made))).toBe(foreign);
    expect(await refusal(`${streamAt(ticket)}&%74icket=${ticket}`)).toContain('400 invalid_query');
    const authorization = `Bearer ${bed.token()}`;
    expect(await refusal(streamAt(ticket), { authorization })).toContain('400 invalid_query');
    expect(await refusal(`${base}/auth/me?ticket=${ticket}`)).toContain('401 unauthenticated');
    bed.clock.now += 60_000;
    expect(await refusal(streamAt(ticket))).toBe('401 invalid_token: This ticket has expired.');
    bed.clock.now -= 1;
    expect((await open(ticket)).status).toBe(200);
  });

  it('are for users and the owner: not for visitors, keys and the operator', async () => {
    expect(await ask()).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    for (const token of [secretKey, operatorToken])
      expect(await ask(token)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const foreign = await ask(bed.token({ aud: 'other' }));
    expect(foreign).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
  });

  it('open nothing for an ended session, a blocked user and a paused project', async () => {
    const [ended, blocked, paused] = [
      await ticketOf(bed.token({ sid: 'ends' })),
      await ticketOf(bed.token({ sid: 'blocked' })),
      await ticketOf(),
    ];
    bed.fake.ended.add('1001:ends');
    await bed.publish('session.revoked', { projectNumber: 1001, sessionIds: ['ends'] });
    expect(await refusal(streamAt(ended))).toContain('401 invalid_token');
    bed.fake.session = { ...bed.fake.session, blocked: { reason: null, until: null } };
    await bed.publish('user.changed', { projectNumber: 1001, userIds: [userId] });
    expect(await refusal(streamAt(blocked))).toContain('403 blocked');
    bed.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, status: 'paused' }));
    await bed.publish('project.changed', { projectId: 'demo', projectNumber: 1001 });
    expect(await refusal(streamAt(paused))).toContain('403 project_paused');
    expect(urls).toEqual([]);
  });

  it('open a stream that ends with the session', async () => {
    const stream = await open(await ticketOf(bed.token({ sid: 'ends' })));
    await stream.take(1, 'ready');
    bed.fake.ended.add('1001:ends');
    await bed.publish('session.revoked', { projectNumber: 1001, sessionIds: ['ends'] });
    expect((await stream.take(1, 'end'))[0]?.data).toEqual({ reason: 'credential' });
  });

  it('are not taken while gateways count each for itself', async () => {
    const ticket = await ticketOf();
    servers = [{ name: 'redis', state: 'degraded' }];
    expect(await refusal(streamAt(ticket))).toContain('503 unavailable');
  });
});
