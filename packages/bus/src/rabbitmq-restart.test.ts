import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningRabbitmq, startRabbitmq, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BusUnavailable } from './bus.ts';
import { createRabbitmqBus } from './rabbitmq.ts';

describe('the bus over a RabbitMQ that is killed', () => {
  let parent: string;
  let server: RunningRabbitmq;
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'backlot-bus-'));
    server = await startRabbitmq({ dataDir: join(parent, 'data'), throwaway: true });
  });
  afterAll(async () => {
    await server.stop();
    await rm(parent, { recursive: true, force: true });
  });

  it('loses no confirmed event, takes none meanwhile, and goes on when it is back', async () => {
    const options = { url: server.url, onDead: () => undefined, onError: () => undefined };
    const publisher = await createRabbitmqBus(options);
    await publisher.ready(30_000);
    const absent = await createRabbitmqBus(options);
    await absent.ready(30_000);
    const got = new Set<string>();
    const queue = {
      queue: 'q',
      topics: ['a'],
      handler: async ({ id }: { id: string }) => void got.add(id),
    };
    await absent.subscribe(queue);
    await absent.close();
    // RabbitMQ 3 writes the names of new quorum queues down only after a moment: a queue that is
    // younger than that when the broker is killed is there afterwards, but does not work.
    const declaredAt = performance.now();
    await until(() => performance.now() - declaredAt > 2_000);

    const event = (id: string) => ({ id, topic: 'a', payload: {} });
    const confirmed = Array.from({ length: 50 }, (_, n) => `before ${n}`);
    await Promise.all(confirmed.map((id) => publisher.publish(event(id))));
    await server.kill();
    await until(() => !publisher.connected());
    await expect(publisher.publish(event('meanwhile'))).rejects.toThrow(BusUnavailable);
    await expect(publisher.takeDead('q', 1, async () => {})).rejects.toThrow(BusUnavailable);
    await server.restart();
    await until(() => publisher.connected());
    await publisher.subscribe(queue);
    await publisher.publish(event('after'));
    await until(() => got.size > confirmed.length);
    expect(got).toEqual(new Set([...confirmed, 'after']));
    await publisher.close();
  });
});
