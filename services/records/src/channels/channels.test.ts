import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bus, createInProcessBus, listenTo } from '@backlot/bus';
import { createRabbitmqBus } from '@backlot/bus/rabbitmq';
import { events } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { asUser, type RunningRabbitmq, startRabbitmq, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EventQueue } from '../live/event-queue.ts';
import { ada, bob } from '../testing/test-bed.ts';
import { createChannels } from './channels.ts';
import { ChannelListener } from './listener.ts';

const channels = { '*': { listen: ['users'], broadcast: ['users'] } };
const inProject = (userId: string, number = 7, ownerId = `owner ${number}`): Identity => {
  const identity = asUser(userId);
  const project = { ...identity.project, number, ownerId, settings: { channels } };
  return { ...identity, project };
};

/** A process of records, as far as channels go. */
const startProcess = async (bus: Bus, clock = performance.now.bind(performance)) => {
  const process = randomUUID();
  const failures: unknown[] = [];
  const made = createChannels({
    publish: (topic, payload) => bus.publish({ id: randomUUID(), topic, payload }),
    process,
    now: Date.now,
    clock,
    isWatchedElsewhere: () => true,
    onFailure: (error) => void failures.push(error),
  });
  await listenTo(bus, events, {
    'channel.said': made.hearSaid,
    'presence.told': made.hearPresence,
  });
  const [beat, settle] = made.sweeps.map(({ run }) => run);
  await beat?.();
  const listen = (identity: Identity, names: string[], here: object = {}) => {
    const queue = new EventQueue({ total: 0 }, 0);
    const listener = new ChannelListener(identity, names, queue);
    const leave = made.join(listener, new Map(Object.entries(here)));
    const heard: { text: string } = { text: '' };
    const read = async () => {
      for await (const text of queue) heard.text += text;
    };
    return { listener, leave, queue, heard, read: () => void read() };
  };
  const users = (channel: string, identity = inProject(ada)) =>
    made.list(identity, channel).items.map(({ userId }) => userId);
  return { ...made, listen, users, beat, settle, failures };
};

describe('channels of two processes over a RabbitMQ that is killed', () => {
  let parent: string;
  let server: RunningRabbitmq;
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'backlot-channels-'));
    server = await startRabbitmq({ dataDir: join(parent, 'data'), throwaway: true });
  });
  afterAll(async () => {
    await server.stop();
    await rm(parent, { recursive: true, force: true });
  });

  it('are one while it lives, each for itself while it is away, and one again', async () => {
    const options = { url: server.url, onDead() {}, onError() {} };
    const buses = await Promise.all([createRabbitmqBus(options), createRabbitmqBus(options)]);
    for (const bus of buses) await bus.ready(30_000);
    const [a, b] = await Promise.all([startProcess(buses[0]), startProcess(buses[1])]);
    const near = a.listen(inProject(ada), ['room'], { room: { at: 'a' } });
    const far = b.listen(inProject(bob), ['room'], { room: { at: 'b' } });
    for (const one of [near, far]) one.read();
    await until(() => a.users('room').length === 2 && b.users('room').length === 2);

    for (let n = 0; n < 50; n++) await (n % 2 ? a : b).say(inProject(ada), 'room', `n${n}`);
    await until(() => [near, far].every(({ heard }) => heard.text.includes('"n49"')));
    for (const { heard } of [near, far]) {
      const order = [...heard.text.matchAll(/"data":"n(\d+)"/g)].map(([, n]) => Number(n));
      expect(order).toEqual(Array.from({ length: 50 }, (_, n) => n));
    }

    await server.kill();
    await until(() => buses.every((bus) => !bus.connected()));
    await a.say(inProject(ada), 'room', 'meanwhile');
    await until(() => near.heard.text.includes('meanwhile'));
    const third = a.listen(inProject('018f0000-0000-7000-8000-0000000000c1'), ['room'], {
      room: { at: 'a' },
    });
    near.leave();
    await until(() => a.failures.length > 1);
    expect(b.users('room').sort()).toEqual([ada, bob].sort());

    await server.restart();
    await until(() => buses.every((bus) => bus.connected()));
    await until(async () => {
      for (const { beat } of [a, b]) await beat?.();
      return !b.users('room').includes(ada) && b.users('room').length === 2;
    });
    await until(async () => {
      await a.say(inProject(ada), 'room', 'again');
      return far.heard.text.includes('again');
    });
    expect(far.heard.text).not.toContain('meanwhile');
    for (const { queue } of [near, far, third]) queue.end();
    for (const bus of buses) await bus.close();
  });
});

describe('channels', () => {
  it('show those of a process that died as gone, within 20 seconds', async () => {
    const bus = createInProcessBus({ onDead() {} });
    let passedMs = 0;
    const clock = () => passedMs;
    const [a, b] = await Promise.all([startProcess(bus, clock), startProcess(bus, clock)]);
    const watcher = b.listen(inProject(bob), ['room']);
    watcher.read();
    a.listen(inProject(ada), ['room'], { room: {} });
    await until(() => b.users('room').length === 1);
    for (passedMs = 0; passedMs < 15_000; passedMs += 5000) await b.beat?.();
    expect(b.users('room')).toEqual([ada]);
    passedMs = 20_000;
    await b.beat?.();
    expect(b.users('room')).toEqual([]);
    await until(() => watcher.heard.text.includes('"type":"leave"'));
    watcher.queue.end();
    await bus.close();
  });

  it('keep what one project says from taking what others hear, and say how much was dropped', async () => {
    const bus = createInProcessBus({ onDead() {} });
    let passedMs = 0;
    const one = await startProcess(bus, () => passedMs);
    const crowd = Array.from({ length: 400 }, () => one.listen(inProject(ada), ['room']));
    const others = [8, 9, 10, 11].flatMap((number) =>
      Array.from({ length: 100 }, () => one.listen(inProject(bob, number), ['room'])),
    );
    const quiet = one.listen(inProject(bob, 12), ['room']);
    for (const { read } of [...crowd, ...others, quiet]) read();
    passedMs = 1000;
    const text = 'x'.repeat(4000);
    for (let n = 0; n < 100; n++) {
      await one.say(inProject(ada), 'room', text);
      for (const number of [8, 9, 10, 11]) await one.say(inProject(bob, number), 'room', text);
    }
    await one.say(inProject(bob, 12), 'room', 'quiet');
    await until(() => quiet.heard.text.includes('"quiet"'));
    await until(() => quiet.queue.bytes === 0);
    const told = crowd[0]?.heard.text.split('event: message').length ?? 0;
    expect(told).toBeLessThan(15);
    expect(told).toBeGreaterThan(1);
    passedMs = 2000;
    await one.settle?.();
    await until(() => crowd[0]?.heard.text.includes('event: missed') === true);
    expect(crowd[0]?.heard.text).toContain(`{"count":${101 - told}}`);
    for (const { queue } of [...crowd, ...others, quiet]) queue.end();
    await bus.close();
  });

  it('hold no more than 256 KB for a reader who takes nothing, who is told later what is so', async () => {
    const bus = createInProcessBus({ onDead() {} });
    let passedMs = 0;
    const one = await startProcess(bus, () => passedMs);
    const slow = one.listen(inProject(ada), ['room']);
    for (let n = 0; n < 200; n++) {
      passedMs += 1000;
      await one.say(inProject(bob), 'room', 'x'.repeat(8000));
    }
    expect(slow.queue.bytes).toBeLessThanOrEqual(256 * 1024);
    expect(slow.listener.missed).toBeGreaterThan(150);
    slow.read();
    await until(() => slow.queue.bytes === 0);
    const { missed } = slow.listener;
    await one.settle?.();
    await until(() => slow.heard.text.includes(`event: missed\ndata: {"count":${missed}}`));
    expect(slow.heard.text.split('"type":"here"')).toHaveLength(3);
    slow.queue.end();
    await bus.close();
  });
});
