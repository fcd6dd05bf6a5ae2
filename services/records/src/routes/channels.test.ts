import { recordRoutes } from '@backlot/contract';
import { findRoundedNumber } from '@backlot/http';
import { type Identity, identityHeader } from '@backlot/identity';
import {
  anonymous,
  asKey,
  asOwner,
  asUser,
  type ReceivedEvents,
  receiveEvents,
  refusesStrangers,
  serveForTest,
  signed,
  testProject,
  until,
} from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const group = '018f0000-0000-7000-8000-00000000009a';
const users = { listen: ['users'], broadcast: ['users'] };

const withRules = (identity: Identity, channels: object = { 'room:*': users }): Identity => ({
  ...identity,
  project: { ...identity.project, settings: { channels } },
});
const inRoom = (id: string) => withRules(asUser(id));

describe('channels', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  const opened: ReceivedEvents[] = [];
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.close();
  });

  const open = async (query: string, identity: Identity, url = bed.http.url) => {
    const stream = await receiveEvents(`${url}/events?${query}`, {
      [identityHeader]: signed(identity, recordRoutes.openEvents),
    });
    opened.push(stream);
    return stream;
  };
  /** Once it has been told who is there. */
  const listen = async (query: string, identity: Identity, url = bed.http.url) => {
    const stream = await open(query, identity, url);
    const [ready] = await stream.take(1, 'ready');
    await until(() => stream.text().includes('"type":"here"'));
    return { ...stream, id: String(ready?.data.stream) };
  };
  const say = (channel: string, data: unknown, identity: Identity) =>
    bed.call('POST', '/events/broadcast', { identity, body: { channel, data } });
  const present = (body: object, identity: Identity) =>
    bed.call('PUT', '/events/presence', { identity, body });
  const list = (channel: string, identity: Identity) =>
    bed.call('GET', `/events/presence?channel=${channel}`, { identity });

  refusesStrangers(
    recordRoutes.broadcastMessage,
    () => bed.http,
    () => ({ path: '/events/broadcast', body: { channel: 'room:1', data: 1 } }),
  );
  refusesStrangers(
    recordRoutes.setPresence,
    () => bed.http,
    () => ({
      path: '/events/presence',
      body: { stream: group, channel: 'room:1', data: {} },
    }),
  );
  refusesStrangers(
    recordRoutes.listPresence,
    () => bed.http,
    () => ({ path: '/events/presence?channel=room:1' }),
  );

  it('carry what is said to those who listen, beside changes of records', async () => {
    await bed.create('todos', { n: 0 });
    const both = await listen('collections=todos&channels=room:1,room:2', inRoom(ada));
    const other = await listen('channels=room:2', inRoom(bob));
    expect((await say('room:1', { text: 'Hello\n\ndata: x' }, inRoom(bob))).status).toBe(204);
    const [message] = await both.take(1, 'message');
    expect(message).toMatchObject({
      data: {
        channel: 'room:1',
        from: { caller: 'user', userId: bob },
        data: { text: 'Hello\n\ndata: x' },
        at: expect.stringMatching(/Z$/),
      },
    });
    const { id } = await bed.create('todos', { n: 1 });
    // The stream may begin with what was made just before it.
    await until(async () => (await both.take(1))[0]?.data.id === id);
    await say('room:2', null, withRules(asKey()));
    expect((await other.take(1, 'message'))[0]?.data).toMatchObject({
      channel: 'room:2',
      from: { caller: 'key', userId: null },
      data: null,
    });
    expect(other.text()).not.toContain('Hello');
    expect(other.text()).not.toContain('id: ');
  });

  it('are closed unless a rule opens them, the nearest one first', async () => {
    const rules = {
      '*': { listen: ['anyone'] },
      'room:*': users,
      'room:vip': { listen: ['role:vip'], broadcast: ['verified'], presence: ['users'] },
      'team:*': { listen: ['group'], broadcast: ['group:owner'] },
    };
    const of = (channel: string, identity: Identity, set: object = rules) =>
      Promise.all([
        open(`channels=${channel}`, withRules(identity, set)).then(({ status }) => status),
        open(`channels=${channel}&presence.${channel}={}`, withRules(identity, set)).then(
          ({ status }) => status,
        ),
        say(channel, 1, withRules(identity, set)).then(({ status }) => status),
        list(channel, withRules(identity, set)).then(({ status }) => status),
      ]);
    const member = (role: string) => ({ ...asUser(ada), groups: [{ id: group, role }] });
    expect(await of('lobby', anonymous())).toEqual([200, 403, 403, 200]);
    expect(await of('lobby', anonymous(), {})).toEqual([403, 403, 403, 403]);
    expect(await of('lobby', asUser(ada))).toEqual([200, 403, 403, 200]);
    expect(await of('lobby', asUser(ada), {})).toEqual([403, 403, 403, 403]);
    expect(await of('lobby', asOwner(), {})).toEqual([200, 200, 204, 200]);
    expect(await of('room:1', asUser(ada))).toEqual([200, 200, 204, 200]);
    expect(await of('room:1', anonymous())).toEqual([401, 401, 401, 401]);
    expect(await of('room:vip', asUser(ada))).toEqual([403, 403, 403, 403]);
    expect(await of('room:vip', { ...asUser(ada), role: 'vip' })).toEqual([200, 200, 403, 200]);
    expect(await of('room:vip', { ...asUser(ada), emailVerified: true })).toEqual([
      403, 403, 204, 403,
    ]);
    expect(await of(`team:${group}`, member('member'))).toEqual([200, 403, 403, 200]);
    expect(await of(`team:${group}`, member('owner'))).toEqual([200, 200, 204, 200]);
    expect(await of(`team:${ada}`, member('owner'))).toEqual([403, 403, 403, 403]);
    expect(await of(`group:${group}`, member('member'), {})).toEqual([200, 200, 204, 200]);
    expect(await of(`group:${group}`, asUser(bob), {})).toEqual([403, 403, 403, 403]);
    const { body } = await say('chat:7', 1, withRules(asUser(ada), {}));
    expect(body.hint).toContain(`/projects/${testProject.id} {"settings": {"channels": {"chat:*"`);
  });

  it('know who is there: who comes, says something else and goes, and of nobody else', async () => {
    const watcher = await listen('channels=room:9', inRoom(bob));
    const here = encodeURIComponent('{"name":"Ada"}');
    const stream = await listen(`channels=room:9&presence.room:9=${here}`, inRoom(ada));
    const [joined] = await watcher.take(2, 'presence').then((all) => all.slice(1));
    expect(joined?.data).toMatchObject({
      channel: 'room:9',
      type: 'join',
      member: { userId: ada, data: { name: 'Ada' } },
    });
    const { member } = joined?.data ?? {};
    expect((await list('room:9', inRoom(bob))).body).toEqual({ items: [member], hasMore: false });
    expect(watcher.text()).not.toContain(stream.id);
    const update = { stream: stream.id, channel: 'room:9', data: { name: 'Ada', typing: true } };
    expect((await present(update, inRoom(ada))).status).toBe(204);
    const [updated] = await watcher.take(1, 'presence');
    expect(updated?.data).toEqual({
      channel: 'room:9',
      type: 'update',
      member: { ...member, data: update.data },
    });
    for (const [body, identity] of [
      [update, inRoom(bob)],
      [{ ...update, stream: member.id }, inRoom(ada)],
      [{ ...update, channel: 'room:8' }, inRoom(ada)],
    ] as const)
      expect((await present(body, identity)).status).toBe(404);
    expect((await present({ ...update, data: null }, inRoom(ada))).status).toBe(204);
    expect((await watcher.take(1, 'presence'))[0]?.data.type).toBe('leave');
    await present(update, inRoom(ada));
    expect((await watcher.take(1, 'presence'))[0]?.data.type).toBe('join');
    stream.close();
    expect((await watcher.take(1, 'presence'))[0]?.data).toMatchObject({ type: 'leave' });
    expect((await list('room:9', inRoom(bob))).body).toEqual({ items: [], hasMore: false });
  });

  it('are of one project: nobody of another one hears, speaks or sees in those of the same name', async () => {
    const elsewhere = (identity: Identity): Identity => ({
      ...identity,
      project: { ...identity.project, id: 'elsewhere', number: 4711 },
    });
    const here = await listen('channels=room:1&presence.room:1={}', inRoom(ada));
    const there = await listen('channels=room:1', elsewhere(inRoom(ada)));
    const atThere = { identity: elsewhere(withRules(asKey())) };
    const body = { channel: 'room:1', data: 'theirs' };
    expect((await bed.call('POST', '/events/broadcast', { ...atThere, body })).status).toBe(204);
    await say('room:1', 'ours', inRoom(bob));
    expect((await here.take(1, 'message'))[0]?.data.data).toBe('ours');
    expect((await there.take(1, 'message'))[0]?.data.data).toBe('theirs');
    expect((await list('room:1', elsewhere(inRoom(bob)))).body.items).toEqual([]);
    const foreign = { stream: here.id, channel: 'room:1', data: { x: 1 } };
    expect((await present(foreign, elsewhere(inRoom(ada)))).status).toBe(404);
    expect(there.text()).not.toContain('ours');
  });

  it('take any JSON up to 8 KB whole, and refuse the rest without a fault', async () => {
    const stream = await listen('channels=room:f', inRoom(bob));
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (data) => {
        const text = JSON.stringify(data);
        const { status } = await say('room:f', data, inRoom(ada));
        const isExact = findRoundedNumber(text) === undefined;
        expect(status).toBe(isExact && Buffer.byteLength(text) <= 8192 ? 204 : 400);
        if (status !== 204) return;
        const [message] = await stream.take(1, 'message');
        expect(message?.data.data).toEqual(JSON.parse(text));
      }),
      { numRuns: 60 },
    );
    const name = fc.oneof(
      fc.string({ maxLength: 120 }),
      fc.stringMatching(/^[A-Za-z0-9:._,*{}"-]{0,120}$/),
    );
    await fc.assert(
      fc.asyncProperty(name, async (channel) => {
        const isName = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$/.test(channel);
        const { status } = await say(channel, 1, withRules(asKey()));
        expect(status).toBe(isName ? 204 : 400);
        const { status: asked } = await list(encodeURIComponent(channel), withRules(asKey()));
        expect(asked).toBe(isName ? 200 : 400);
      }),
      { numRuns: 60 },
    );
    const deep = '['.repeat(4000) + ']'.repeat(4000);
    for (const [body, status] of [
      [`{"channel":"room:f","data":${deep}}`, 204],
      [`{"channel":"room:f","data":"${'x'.repeat(8190)}"}`, 204],
      [`{"channel":"room:f","data":"${'x'.repeat(8191)}"}`, 400],
      [`{"channel":"room:f","data":[${'1e20,'.repeat(1500)}0]}`, 400],
      ['{"channel":"room:f"}', 400],
      ['{"channel":["room:f"],"data":1}', 400],
    ] as const) {
      const answer = await fetch(`${bed.http.url}/events/broadcast`, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          [identityHeader]: signed(inRoom(ada), recordRoutes.broadcastMessage),
        },
      });
      expect([body.slice(0, 60), answer.status]).toEqual([body.slice(0, 60), status]);
    }
    for (const query of [
      'channels=',
      'channels=a b',
      'channels=room:*',
      'channels=room:1&presence.room:2={}',
      'channels=room:1&presence.room:1=[]',
      'channels=room:1&presence.room:1=x',
      `channels=room:1&presence.room:1={"a":"${'x'.repeat(1024)}"}`,
      'channels=room:1&channels=room:2',
      `collections=todos&channels=${Array.from({ length: 20 }, (_, n) => `room:${n}`)}`,
    ])
      expect([query, (await open(query, inRoom(ada))).status]).toEqual([query, 400]);
  });

  it('a channel takes 200, and says so to who comes then', async () => {
    const keys = withRules(asKey());
    const ip = (n: number) => `198.51.100.${n % 250}`;
    for (let n = 0; n < 200; n++) {
      const user = `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`;
      await open('channels=room:full&presence.room:full={}', { ...inRoom(user), ip: ip(n) });
    }
    const more = { ...inRoom(ada), ip: ip(250) };
    expect((await open('channels=room:full&presence.room:full={}', more)).status).toBe(429);
    expect((await open('channels=room:full', more)).status).toBe(200);
    expect((await list('room:full', keys)).body.items).toHaveLength(200);
    for (const stream of opened.splice(0)) stream.close();
    await until(async () => (await list('room:full', keys)).body.items.length === 0);
  });

  it('reach the streams of another process, whose presence goes with it', async () => {
    const other = bed.another();
    await other.start();
    const http = await serveForTest(other.app);
    const near = await listen('channels=room:p&presence.room:p={"at":"near"}', inRoom(ada));
    const far = await listen('channels=room:p&presence.room:p={"at":"far"}', inRoom(bob), http.url);
    await until(() => near.text().includes('"far"') && far.text().includes('"near"'));
    await until(async () => {
      await say('room:p', { n: 1 }, inRoom(ada));
      return far.text().includes('"n":1') && near.text().includes('"n":1');
    });
    const order = Array.from({ length: 30 }, (_, n) => n + 100);
    for (const n of order) await say('room:p', n, inRoom(bob));
    const heard = async (stream: ReceivedEvents) => {
      await until(() => stream.text().includes('"data":129'));
      return stream.events
        .filter(({ event, data }) => event === 'message' && data.data >= 100)
        .map(({ data }) => data.data);
    };
    expect([await heard(near), await heard(far)]).toEqual([order, order]);
    const update = { stream: far.id, channel: 'room:p', data: { at: 'further' } };
    expect((await present(update, inRoom(ada))).status).toBe(204);
    expect((await present(update, inRoom(bob))).status).toBe(204);
    await until(() => near.text().includes('"further"') && far.text().includes('"further"'));
    expect(near.text().split('"type":"update"')).toHaveLength(2);
    other.drain();
    await until(() => near.text().includes('"type":"leave"'));
    await until(async () => (await list('room:p', inRoom(ada))).body.items.length === 1);
    await http.stop();
    await other.stop();
  });
});
