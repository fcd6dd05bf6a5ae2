import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { type ReceivedEvents, receiveEvents, until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { defaultAddressBounds } from './addresses/address-bounds.ts';
import { createTestBed, projectSnapshot, type TestBed, userId } from './testing/test-bed.ts';

/** A service whose answers have no end; what is written to them goes to all. */
const streamService = () => {
  const open = new Set<Parameters<RequestListener>[1]>();
  const service: RequestListener = (_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    res.write('event: ready\ndata: {}\n\n');
    open.add(res);
    res.once('close', () => open.delete(res));
  };
  return {
    service,
    open,
    send: (text: string) => {
      for (const res of open) res.write(text);
    },
  };
};

const path = '/api/runtime/demo/events?collections=todos';

describe('answers without an end', () => {
  let bed: TestBed | undefined;
  const opened: ReceivedEvents[] = [];
  afterEach(async () => {
    for (const stream of opened.splice(0)) stream.close();
    await bed?.close();
  });
  const start = async (options: Parameters<typeof createTestBed>[0] = {}) => {
    const records = streamService();
    bed = await createTestBed({ service: () => records.service, ...options });
    return { ...records, bed };
  };
  const open = async ({ url }: TestBed, token?: string) => {
    const stream = await receiveEvents(
      url + path,
      token === undefined ? {} : { authorization: `Bearer ${token}` },
    );
    opened.push(stream);
    if (stream.status === 200) await stream.take(1, 'ready');
    return stream;
  };
  const reasonOf = async (stream: ReceivedEvents) => {
    const [end] = await stream.take(1, 'end');
    await until(() => stream.isClosed());
    return end?.data.reason;
  };

  it('outlast the time of a call, and are no open calls', async () => {
    const addressBounds = { ...defaultAddressBounds, openCalls: 1, streams: 2 };
    const {
      send,
      open: atService,
      bed,
    } = await start({
      deps: { timeoutMs: 20 },
      config: { addressBounds },
    });
    const streams = [await open(bed), await open(bed)];
    expect((await open(bed)).status).toBe(429);
    await new Promise((resolve) => setTimeout(resolve, 100));
    send('event: change\ndata: {"n":1}\n\n');
    for (const stream of streams) expect((await stream.take(1))[0]?.data).toEqual({ n: 1 });
    streams[0]?.close();
    await until(() => atService.size === 1);
    await until(async () => (await open(bed)).status === 200);
  });

  it('end with the session, with what a user may, with a block, a pause and the process', async () => {
    const { bed } = await start();
    const { fake } = bed;
    const token = bed.token({ aud: 'demo', sid: 'ends' });
    const [visitor, ended] = [await open(bed), await open(bed, token)];
    fake.ended.add('1001:ends');
    await bed.publish('session.revoked', { projectNumber: 1001, sessionIds: ['ends'] });
    expect(await reasonOf(ended)).toBe('credential');
    expect((await open(bed, token)).status).toBe(401);

    const demoted = await open(bed, bed.token({ aud: 'demo', sid: 'stays' }));
    fake.session = { ...fake.session, role: 'staff' };
    await bed.publish('user.changed', { projectNumber: 1001, userIds: [userId] });
    expect(await reasonOf(demoted)).toBe('access');

    fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, status: 'paused' }));
    await bed.publish('project.changed', { projectId: 'demo', projectNumber: 1001 });
    expect(await reasonOf(visitor)).toBe('project');
    fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001 }));
    await bed.publish('project.changed', { projectId: 'demo', projectNumber: 1001 });

    const last = await open(bed);
    bed.gateway.drain();
    expect(await reasonOf(last)).toBe('restart');
    expect((await open(bed)).status).toBe(503);
  });

  it('are cut off, and leave their place, where the caller stays and takes nothing', async () => {
    const addressBounds = { ...defaultAddressBounds, streams: 1 };
    const deps = { streamStalledMs: 1 };
    const { send, open: atService, bed } = await start({ deps, config: { addressBounds } });
    const idle = connect(bed.port, '127.0.0.1').on('error', () => {});
    idle.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await until(() => atService.size === 1);
    for (let n = 0; n < 20; n++) send(`event: change\ndata: "${'x'.repeat(1_000_000)}"\n\n`);
    await until(() => atService.size === 0);
    await until(async () => (await open(bed)).status === 200);
    idle.destroy();
  });

  it('are cut off between two events, and never told of an end inside of one', async () => {
    const { send, bed } = await start();
    const stream = await open(bed);
    send('event: change\ndata: {"half');
    await until(() => stream.text().includes('half'));
    bed.gateway.drain();
    await until(() => stream.isClosed());
    expect(stream.events).toEqual([]);
    send('more');
  });
});
