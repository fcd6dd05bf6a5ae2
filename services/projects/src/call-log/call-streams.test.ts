import { randomUUID } from 'node:crypto';
import { type LoggedCall, requestRoutes } from '@backlot/contract';
import { type Identity, identityHeader } from '@backlot/identity';
import { type ReceivedEvents, receiveEvents, signed, until } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { failing, line } from '../testing/calls.ts';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

describe('a stream of calls', () => {
  let bed: TestBed;
  let identity: Identity;
  beforeAll(async () => {
    bed = await createTestBed();
    identity = await bed.owner(ownerA, await bed.project());
  });
  afterAll(() => bed.close());
  const opened: ReceivedEvents[] = [];
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.close();
  });

  let batches = 0;
  const gateway = randomUUID();
  const take = (calls: LoggedCall[], by = bed.service) => {
    batches += 1;
    const projects = [{ projectNumber: identity.project.number, calls }];
    return by.directories.callLog.takeCalls({ gateway, number: batches, projects });
  };
  const open = async (query = '', lastEventId = '') => {
    const path = `/platform/projects/${identity.project.id}/requests/stream${query}`;
    const stream = await receiveEvents(bed.http.url + path, {
      [identityHeader]: signed(identity, requestRoutes.streamRequests, bed.now()),
      ...(lastEventId && { 'last-event-id': lastEventId }),
    });
    opened.push(stream);
    return stream;
  };
  const next = async (stream: ReceivedEvents, count = 1) =>
    (await stream.take(count, 'call')).map(({ data }) => data.path);

  it('tells of calls as they come, by its filter, whichever process takes them', async () => {
    const [all, errors] = [await open(), await open('?status=failed&path=/db/')];
    for (const stream of [all, errors]) await stream.take(1, 'ready');
    await take([line({ path: '/db/a' }), failing({ path: '/db/b' })]);
    const other = bed.another();
    await take([failing({ path: '/db/c' }), failing({ path: '/ai', route: '/ai' })], other);
    expect(await next(all, 4)).toEqual(['/db/a', '/db/b', '/db/c', '/ai']);
    expect(await next(errors, 2)).toEqual(['/db/b', '/db/c']);
    expect(all.headers.get('content-type')).toContain('text/event-stream');
    expect(all.headers.get('x-accel-buffering')).toBe('no');
    await other.stop();
  });

  it('goes on behind an event that it is given, and begins anew where too much came since', async () => {
    const first = await open();
    await first.take(1, 'ready');
    await take([line({ path: '/db/seen' })]);
    const [seen] = await first.take(1, 'call');
    first.close();
    await take([line({ path: '/db/missed' })]);
    const second = await open('', seen?.id);
    expect(await next(second)).toEqual(['/db/missed']);
    second.close();
    for (let n = 0; n < 3; n++) await take(Array.from({ length: 500 }, () => line()));
    const third = await open('', seen?.id);
    expect((await third.take(1, 'reset'))[0]?.data).toEqual({ reason: 'expired' });
    await take([line({ path: '/db/after' })]);
    expect(await next(third)).toEqual(['/db/after']);
    for (const wrong of ['x', '-1', '1e99', '9'.repeat(40)])
      expect((await open(`?lastEventId=${wrong}`)).status).toBe(400);
  });

  it('says where calls are missing', async () => {
    const stream = await open('?status=404');
    await stream.take(1, 'ready');
    const time = new Date(bed.now()).toISOString();
    batches += 1;
    await bed.service.directories.callLog.takeCalls({
      gateway,
      number: batches,
      projects: [
        {
          projectNumber: identity.project.number,
          calls: [],
          lost: { since: time, until: time, calls: 7 },
        },
      ],
    });
    const [gap] = await stream.take(1, 'gap');
    expect(gap?.data).toEqual({ at: time, since: time, calls: 7 });
  });

  it('is one of as many as a project may have, and gives its place back', async () => {
    const streams: ReceivedEvents[] = [];
    await until(async () => (await open()).status === 429);
    const refused = await open();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    streams.push(...opened.splice(0));
    expect(streams.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(
      requestRoutes.streamsOfCalls,
    );
    for (const stream of streams) stream.close();
    await until(async () => (await open()).status === 200);
  });

  it('ends where its process stops', async () => {
    const stream = await open();
    await stream.take(1, 'ready');
    bed.service.drain();
    expect((await stream.take(1, 'end'))[0]?.data).toEqual({ reason: 'restart' });
    await until(() => stream.isClosed());
  });
});
