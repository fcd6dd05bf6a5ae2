import { randomUUID } from 'node:crypto';
import {
  createTestBroker,
  createTestProxy,
  type TestBroker,
  type TestProxy,
  until,
} from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Channel, connect } from 'amqplib';
import { busConformance } from './bus.conformance.ts';
import { type BusEvent, BusUnavailable, type DeadEvent } from './bus.ts';
import { createRabbitmqBus, type RabbitmqBus, type RabbitmqBusOptions } from './rabbitmq.ts';
import { deadQueueName, oldQueueName, queueName } from './rabbitmq-topology.ts';

const startTimeoutMs = 30_000;
const open = async (url: string, more: Partial<RabbitmqBusOptions> = {}) => {
  const bus = await createRabbitmqBus({
    url,
    onDead: () => undefined,
    onError: () => undefined,
    retryDelaysMs: [10],
    ...more,
  });
  await bus.ready(startTimeoutMs);
  return bus;
};

busConformance('rabbitmq', async () => {
  const broker = await createTestBroker();
  const dead: { id: string; queue: string }[] = [];
  const failed: string[] = [];
  const bus = await open(broker.url, {
    onDead: (event, queue) => void dead.push({ id: event?.id ?? '', queue }),
    onFailed: ({ id }) => void failed.push(id),
  });
  const close = async () => {
    await bus.close();
    await broker.drop();
  };
  return { bus, dead: () => dead, failed: () => failed, close };
});

describe('the bus over RabbitMQ', () => {
  let broker: TestBroker;
  let proxy: TestProxy;
  const cleanups: (() => Promise<unknown>)[] = [];
  beforeEach(async () => {
    broker = await createTestBroker();
    proxy = await createTestProxy(broker.url);
    cleanups.push(
      () => broker.drop(),
      () => proxy.close(),
    );
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  const start = async (url = proxy.url, more: Partial<RabbitmqBusOptions> = {}) => {
    const bus = await open(url, more);
    cleanups.push(() => bus.close());
    return bus;
  };
  const event = (topic = 'a', payload: unknown = {}): BusEvent => ({
    id: randomUUID(),
    topic,
    payload,
  });
  const record = async (bus: RabbitmqBus, queue = 'q', topics = ['a']) => {
    const got: string[] = [];
    await bus.subscribe({ queue, topics, handler: async ({ id }) => void got.push(id) });
    return got;
  };
  /** Beside the bus, as another program would use the broker. */
  const direct = async (): Promise<Channel> => {
    const connection = await connect(broker.url);
    cleanups.push(() => connection.close());
    return connection.createChannel();
  };

  it('hands an event out again when its consumer was lost before the handler ended', async () => {
    const bus = await start();
    const deliveries: string[] = [];
    let finish: () => void = () => undefined;
    const firstHandler = new Promise<void>((resolve) => {
      finish = resolve;
    });
    await bus.subscribe({
      queue: 'q',
      topics: ['a'],
      handler: async ({ id }) => {
        deliveries.push(id);
        if (deliveries.length === 1) await firstHandler;
      },
    });
    const sent = event();
    const publisher = await start(broker.url);
    await publisher.publish(sent);
    await until(() => deliveries.length === 1);
    proxy.cut();
    await until(() => deliveries.length === 2);
    finish();
    await bus.close();
    expect(deliveries).toEqual([sent.id, sent.id]);
  });

  it('refuses events at once while it is cut off, and goes on by itself, heard by all', async () => {
    const states: boolean[] = [];
    const bus = await start(proxy.url, { onState: (state) => void states.push(state) });
    const got = await record(bus);
    const heard: string[] = [];
    await bus.listen(['a'], ({ id }) => void heard.push(id));
    proxy.shut();
    await until(() => !bus.connected());
    let refusal: unknown;
    bus.publish(event()).catch((error: unknown) => {
      refusal = error;
    });
    // Nothing that takes time comes before this.
    await new Promise(setImmediate);
    expect(refusal).toBeInstanceOf(BusUnavailable);
    const late = await record(bus, 'subscribed meanwhile');
    proxy.open();
    await until(() => bus.connected());
    const sent = event();
    await bus.publish(sent);
    await until(() => got.length > 0 && late.length > 0 && heard.length > 0);
    expect([got, late, heard]).toEqual([[sent.id], [sent.id], [sent.id]]);
    expect(states).toEqual([true, false, true]);
  });

  it('rejects an event that was not confirmed before the connection ended, or in time', async () => {
    const bus = await start(proxy.url, { confirmTimeoutMs: 100 });
    proxy.freeze();
    await expect(bus.publish(event())).rejects.toThrow(BusUnavailable);
    const under = bus.publish(event());
    proxy.cut();
    await expect(under).rejects.toThrow(BusUnavailable);
  });

  it('notices a broker that is silent, and is back once it is not', async () => {
    const bus = await start(proxy.url);
    const got = await record(bus);
    proxy.freeze();
    const under = bus.publish(event());
    under.catch(() => {});
    await until(() => !bus.connected());
    await expect(under).rejects.toThrow(BusUnavailable);
    proxy.thaw();
    await until(() => bus.connected());
    const sent = event();
    await bus.publish(sent);
    await until(() => got.includes(sent.id));
  });

  it('keeps events for a queue whose subscribers are away', async () => {
    const first = await start();
    await record(first);
    await first.close();
    const publisher = await start();
    const sent = event();
    await publisher.publish(sent);
    const got = await record(await start());
    await until(() => got.length > 0);
    expect(got).toEqual([sent.id]);
  });

  it('lets an event wait for its retry without holding up those behind it', async () => {
    const bus = await start(proxy.url, { retryDelaysMs: [700], prefetch: 1 });
    const done: string[] = [];
    let failures = 0;
    const failing = event();
    await bus.subscribe({
      queue: 'q',
      topics: ['a'],
      handler: async ({ id }) => {
        if (id === failing.id && failures++ === 0) throw new Error('not yet');
        done.push(id);
      },
    });
    const behind = event();
    // At once: the second one lies in the queue before the first one's wait can be over.
    await Promise.all([bus.publish(failing), bus.publish(behind)]);
    await until(() => done.length === 2);
    expect(done).toEqual([behind.id, failing.id]);
  });

  it('parks what it gives up in view, with the error, and messages that are no event', async () => {
    const dead: (string | undefined)[] = [];
    const bus = await start(proxy.url, { onDead: (given) => void dead.push(given?.id) });
    await bus.subscribe({
      queue: 'q',
      topics: ['a'],
      handler: () => Promise.reject(new Error('out of order')),
    });
    const poison = event('a', { n: 1 });
    await bus.publish(poison);
    await until(() => dead.length === 1);
    const channel = await direct();
    channel.sendToQueue(queueName('q'), Buffer.from('no JSON'));
    await until(() => dead.length === 2);
    expect(dead).toEqual([poison.id, undefined]);
    await until(async () => (await bus.parked('q')) === 2);
    const backlog = await bus.backlog();
    expect(backlog).toContainEqual({ queue: 'q', waiting: 0, parked: 2 });
    expect(backlog).toContainEqual({ queue: 'backlot.q.retry.10ms', waiting: 0, parked: 0 });
    const parked = await channel.get(deadQueueName('q'));
    if (parked === false) throw new Error('nothing is parked');
    expect(JSON.parse(parked.content.toString())).toEqual({ n: 1 });
    expect(parked.properties).toMatchObject({
      messageId: poison.id,
      type: 'a',
      headers: { 'backlot-error': 'Error: out of order', 'backlot-tries': 5 },
    });
  });

  it('keeps what nobody else could keep, and hands it over once somebody can', async () => {
    let canKeep = false;
    const kept: DeadEvent[] = [];
    const bus = await start(broker.url, { retryDelaysMs: [1] });
    await bus.subscribe({
      queue: 'poison',
      topics: ['a'],
      handler: async () => {
        throw new Error('broken');
      },
      keepDead: async () => {
        throw new Error('nobody can');
      },
    });
    const keep = async (dead: DeadEvent) => {
      if (!canKeep) throw new Error('not yet');
      kept.push(dead);
    };
    const poison = { id: randomUUID(), topic: 'a', payload: { n: 1 } };
    await bus.publish(poison);
    const connection = await connect(broker.url);
    cleanups.push(() => connection.close());
    const channel = await connection.createChannel();
    channel.publish('backlot.events.a', 'a', Buffer.from('no JSON'), { messageId: 'x', type: 'b' });
    await until(async () => (await bus.parked('poison')) === 2);
    await expect(bus.takeDead('poison', 10, keep)).rejects.toThrow('not yet');
    await until(async () => (await bus.parked('poison')) === 2);
    canKeep = true;
    expect(await bus.takeDead('poison', 10, keep)).toBe(2);
    const events = kept.filter(({ event }) => event !== undefined);
    expect(events).toMatchObject([{ event: poison, error: 'Error: broken' }]);
    const others = kept.filter(({ event }) => event === undefined);
    expect(others.map(({ content }) => String(content))).toEqual(['no JSON']);
    await until(async () => (await bus.parked('poison')) === 0);
  });

  it('handles what lies in the queue of the release before, and tries it again', async () => {
    const channel = await direct();
    await channel.assertQueue(oldQueueName('q'));
    await channel.assertExchange('backlot.events', 'topic');
    await channel.bindQueue(oldQueueName('q'), 'backlot.events', 'a');
    const options = (messageId: string) => ({ messageId, type: 'a' });
    channel.publish('backlot.events', 'a', Buffer.from('{}'), options('sent'));
    channel.sendToQueue(oldQueueName('q'), Buffer.from('{}'), options('to try again'));
    const bus = await start();
    const got: string[] = [];
    await bus.subscribe({
      queue: 'q',
      topics: ['a'],
      handler: async ({ id }) => {
        got.push(id);
        if (got.length <= 2) throw new Error('not yet');
      },
    });
    await until(() => got.length === 4);
    expect(got.toSorted()).toEqual(['sent', 'sent', 'to try again', 'to try again']);
  });

  it('has the broker park an event that loses its consumer again and again', async () => {
    const bus = await start();
    await record(bus);
    await bus.close();
    const publisher = await start();
    await publisher.publish(event());
    const channel = await direct();
    let losses = 0;
    while (losses < 100) {
      const message = await channel.get(queueName('q'));
      if (message === false) break;
      losses++;
      channel.nack(message, false, true);
    }
    await until(async () => (await publisher.parked('q')) === 1);
    expect(losses).toBe(21);
  });

  it('drops an event that nobody takes, unless it must reach a queue', async () => {
    const bus = await start(proxy.url, { mustReach: ['precious'] });
    await bus.publish(event('whim'));
    const precious = event('precious');
    await expect(bus.publish(precious)).rejects.toThrow('No queue takes precious yet.');
    const got = await record(bus, 'q', ['precious']);
    await bus.publish(precious);
    await until(() => got.length > 0);
    expect(got).toEqual([precious.id]);
  });

  it('begins anew when the broker takes its queue away', async () => {
    const bus = await start();
    const got = await record(bus);
    await (await direct()).deleteQueue(queueName('q'));
    const sent = event();
    await until(async () => {
      await bus.publish(sent);
      return got.length > 0;
    });
    expect(new Set(got)).toEqual(new Set([sent.id]));
  });

  it('waits for the handlers at work before it closes', async () => {
    const bus = await start();
    let finish: () => void = () => undefined;
    let begun = false;
    await bus.subscribe({
      queue: 'q',
      topics: ['a'],
      handler: () => {
        begun = true;
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    });
    await bus.publish(event());
    await until(() => begun);
    let ended = false;
    const closing = bus.close().then(() => {
      ended = true;
    });
    await expect(bus.publish(event())).rejects.toThrow('closed');
    expect(ended).toBe(false);
    finish();
    await closing;
    expect((await (await direct()).checkQueue(queueName('q'))).messageCount).toBe(0);
  });
});
