import { createClient } from '@backlot/client';
import { type ReceivedEvents, receiveEvents, until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

interface Typing {
  typing: boolean;
}

describe.each(usualModes)('channels, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  beforeAll(async () => {
    browser = await launchChromium();
    platform = await platformUnderTest(mode);
    project = await platform.newProject();
    await setChannels({ 'room:*': { listen: ['users'], broadcast: ['users'] } });
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });
  const opened: ReceivedEvents[] = [];
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.close();
  });

  const control = (method: string, path: string, body?: object) =>
    platform.control(method, `/projects/${project.id}${path}`, {
      token: project.owner.token,
      ...(body && { body }),
    });
  const setChannels = async (channels: object) => {
    const { status } = await control('PATCH', '', { settings: { channels } });
    expect(status).toBe(200);
  };
  const listen = async (channel: string, token: string, id = project.id) => {
    const url = `${platform.url}/api/runtime/${id}/events?channels=${channel}`;
    const stream = await receiveEvents(url, { authorization: `Bearer ${token}` });
    opened.push(stream);
    if (stream.status === 200) await stream.take(1, 'ready');
    return stream;
  };
  const say = (channel: string, data: unknown, token: string, api = project.api) =>
    api('POST', '/events/broadcast', { token, body: { channel, data } });
  const reason = async (stream: ReceivedEvents) => (await stream.take(1, 'end'))[0]?.data.reason;

  it('tell nothing to who has left the group, is blocked or signed out, or under another rule', async () => {
    const [ada, bob, cleo] = await Promise.all([
      platform.signUp(project.id),
      platform.signUp(project.id),
      platform.signUp(project.id),
    ]);
    const made = await project.api('POST', '/groups', {
      token: ada.token,
      body: { name: 'Red team' },
    });
    const channel = `group:${made.body.id}`;
    expect((await listen(channel, bob.token)).status).toBe(403);
    expect((await say(channel, 'foreign', bob.token)).status).toBe(403);
    const inGroup = await listen(channel, ada.token);
    await until(async () => (await say(channel, 'ours', ada.token)).status === 204);
    expect((await inGroup.take(1, 'message'))[0]?.data.data).toBe('ours');
    const left = await project.api('DELETE', `/groups/${made.body.id}`, { token: ada.token });
    expect(left.status).toBeLessThan(300);
    expect(await reason(inGroup)).toBe('access');

    const [signedOut, blocked, open] = await Promise.all([
      listen('room:1', bob.token),
      listen('room:1', cleo.token),
      listen('room:1', ada.token),
    ]);
    await project.api('POST', '/auth/signout', { token: bob.token });
    expect(await reason(signedOut)).toBe('credential');
    await control('PATCH', `/users/${cleo.id}`, { blocked: true });
    expect(await reason(blocked)).toBe('access');
    expect((await say('room:1', 'insult', cleo.token)).status).toBe(403);
    await setChannels({});
    expect(await reason(open)).toBe('access');
    expect((await listen('room:1', ada.token)).status).toBe(403);
    await setChannels({ 'room:*': { listen: ['users'], broadcast: ['users'] } });
    await until(async () => (await listen('room:1', ada.token)).status === 200);
  });

  it('are closed to tokens and keys of another project, and stand in the config', async () => {
    const other = await platform.newProject();
    const stranger = await platform.signUp(other.id);
    const keyed = await platform.control('POST', `/projects/${other.id}/keys`, {
      token: other.owner.token,
      body: { name: 'k', scopes: ['read', 'write', 'admin'] },
    });
    for (const token of [stranger.token, other.owner.token, String(keyed.body.key)]) {
      expect((await listen('room:1', token)).status).toBeGreaterThan(400);
      expect((await say('room:1', 1, token)).status).toBeGreaterThan(400);
      const query = { token };
      expect(
        (await project.api('GET', '/events/presence?channel=room:1', query)).status,
      ).toBeGreaterThan(400);
    }
    const { body } = await control('GET', '/config');
    expect(body.settings.channels).toEqual({
      'room:*': { listen: ['users'], broadcast: ['users'] },
    });
    for (const channels of [
      { 'room *': { listen: [] } },
      { 'room:*': { listen: ['everybody'] } },
      { 'room:*': {} },
      Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`c${n}`, { listen: [] }])),
    ])
      expect((await control('PATCH', '', { settings: { channels } })).status).toBe(400);
  });

  it('in the client: what is said is heard, who comes and goes is shown, and what is refused is told', async () => {
    const url = `${platform.url}/api/runtime/${project.id}`;
    const [ada, bob] = [createClient(url), createClient(url)];
    const password = 'a good long password';
    const me = await ada.auth.signUp({ email: 'ada@example.org', password });
    await bob.auth.signUp({ email: 'bob@example.org', password });
    const heard: string[] = [];
    const stopHearing = ada.channel<Typing>('room:5').on(({ from, data }) => {
      heard.push(`${from.userId === me.id ? 'me' : 'bob'} ${data.typing}`);
    });
    let shown: string[] = [];
    const show = (members: { data: { name: string } }[]) => {
      shown = members.map(({ data }) => data.name).sort();
    };
    const shows = (...names: string[]) =>
      until(() => JSON.stringify(shown) === JSON.stringify(names), { what: `${names}` });
    const leaves = [ada.channel('room:5').presence({ name: 'Ada' }, show)];
    await shows('Ada');
    let leave = bob.channel('room:5').presence({ name: 'Bob' });
    await shows('Ada', 'Bob');
    leave();
    leave = bob.channel('room:5').presence({ name: 'Robert' });
    await shows('Ada', 'Robert');
    await bob.channel<Typing>('room:5').send({ typing: true });
    await ada.channel<Typing>('room:5').send({ typing: false });
    await until(() => heard.length === 2);
    expect(heard).toEqual(['bob true', 'me false']);
    leave();
    await shows('Ada');

    const refused: string[] = [];
    leaves.push(
      ada.channel('closed').on(
        () => {},
        (error) => refused.push(error.message),
      ),
    );
    await until(() => refused.length > 0);
    expect(refused[0]).toBe('You may not listen to "closed".');
    await expect(ada.channel('closed').send(1)).rejects.toMatchObject({ status: 403 });
    for (const end of [stopHearing, ...leaves]) end();
  });

  it('reach an EventSource by its ticket, and all tabs of a user on one stream', async () => {
    const { token, id } = await platform.signUp(project.id);
    const { body } = await project.api('POST', '/events/ticket', { token });
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${platform.url}/examples/chat/?project=${project.id}`);
    const here = encodeURIComponent('{"name":"Eve"}');
    const path = `/events?channels=room:7&presence.room:7=${here}&ticket=${body.ticket}`;
    await page.evaluate((address) => {
      const source = new EventSource(address);
      const told: string[] = [];
      for (const name of ['presence', 'message'])
        source.addEventListener(name, (event) =>
          told.push(`${name} ${(event as MessageEvent).data}`),
        );
      Object.assign(globalThis, { source, told });
    }, `/api/runtime/${project.id}${path}`);
    const told = () => page.evaluate(() => (globalThis as unknown as { told: string[] }).told);
    await until(async () => (await told()).some((text) => text.includes('"here"')));
    await say('room:7', 'Hello', token);
    await until(async () => (await told()).some((text) => text.startsWith('message')));
    const listed = await project.api('GET', '/events/presence?channel=room:7', { token });
    expect(listed.body.items).toMatchObject([{ userId: id, data: { name: 'Eve' } }]);
    await page.close();
    await until(async () => {
      const now = await project.api('GET', '/events/presence?channel=room:7', { token });
      return now.body.items.length === 0;
    });

    const streams: string[] = [];
    context.on('request', (request) => {
      if (request.url().includes('/events?')) streams.push(request.url());
    });
    const openTab = async (name: string | null) => {
      const tab = await context.newPage();
      await tab.goto(`${platform.url}/examples/chat/?project=${project.id}`);
      await tab.evaluate(
        async ([url, presence, userToken]) => {
          const { createClient: create } = await import('/sdk.js' as string);
          const storage = { get: () => userToken, set() {} };
          const client = create(url, { storage });
          const heard: string[] = [];
          Object.assign(globalThis, { heard, shown: '' });
          const channel = client.channel('room:8');
          channel.on(({ data }: { data: string }) => heard.push(data));
          channel.presence(presence && { name: presence }, (members: { data: object }[]) => {
            Object.assign(globalThis, { shown: JSON.stringify(members.map(({ data }) => data)) });
          });
        },
        [`${platform.url}/api/runtime/${project.id}`, name, token] as const,
      );
      return {
        close: () => tab.close(),
        shows: (text: string) =>
          tab.waitForFunction(
            (expected) => (globalThis as unknown as { shown: string }).shown === expected,
            text,
          ),
        hears: (text: string) =>
          tab.waitForFunction(
            (expected) => (globalThis as unknown as { heard: string[] }).heard.includes(expected),
            text,
          ),
      };
    };
    const first = await openTab('Eve');
    await first.shows('[{"name":"Eve"}]');
    const second = await openTab(null);
    await second.shows('[{"name":"Eve"}]');
    await say('room:8', 'to all', token);
    await Promise.all([first.hears('to all'), second.hears('to all')]);
    expect(streams).toHaveLength(1);
    await first.close();
    await second.shows('[]');
    await say('room:8', 'to one', token);
    await second.hears('to one');
    await context.close();
  });
});
