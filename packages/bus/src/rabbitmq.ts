import pTimeout from 'p-timeout';
import {
  type Bus,
  type BusEvent,
  BusUnavailable,
  type OnFailed,
  type QueueBacklog,
} from './bus.ts';
import { confirmed } from './rabbitmq-confirm.ts';
import { keepConnected } from './rabbitmq-connection.ts';
import type { Link } from './rabbitmq-link.ts';
import { encode, lastTry } from './rabbitmq-message.ts';
import {
  deadQueueName,
  ownExchange,
  queueName,
  retryName,
  topicExchange,
} from './rabbitmq-topology.ts';

export interface RabbitmqBusOptions {
  url: string;
  /** Told of each event that is parked in its queue's dead queue; undefined where it is no event. */
  onDead: (event: BusEvent | undefined, queue: string, error: unknown) => void;
  onFailed?: OnFailed;
  /** Told of failed connections and listeners. */
  onError: (error: unknown) => void;
  /** Told when the bus is reached, and when it is lost: what listeners missed is not made up for. */
  onState?: (connected: boolean) => void;
  /** Told when RabbitMQ begins to refuse the user or the password, and when it takes them again. */
  onRefusal?: (isRefused: boolean) => void;
  /** Topics whose events are refused while no queue takes them, instead of being dropped. */
  mustReach?: readonly string[];
  /** Default 16. */
  prefetch?: number;
  /** Default 1 s, 10 s, 1 min, 10 min. */
  retryDelaysMs?: readonly number[];
  /** Default 10,000. */
  confirmTimeoutMs?: number;
}

export interface RabbitmqBus extends Bus {
  /** True while events can be published and received. */
  connected(): boolean;
  refused(): boolean;
  /** Resolves at the first connection. @throws BusUnavailable after this time */
  ready(timeoutMs: number): Promise<void>;
  /** Events parked in the queue's dead queue. @throws BusUnavailable */
  parked(queue: string): Promise<number>;
}

const drainTimeoutMs = 10_000;
const countTimeoutMs = 2000;

/**
 * The bus between processes. It connects by itself, and again after each loss, with all subscriptions
 * and listeners put back. Events may come twice and out of order.
 */
export const createRabbitmqBus = async (options: RabbitmqBusOptions): Promise<RabbitmqBus> => {
  const { onError, confirmTimeoutMs = 10_000 } = options;
  const { retryDelaysMs = [1_000, 10_000, 60_000, 600_000] } = options;
  const mustReach = new Set(options.mustReach);
  const queues = new Set<string>();
  const underWay = new Set<Promise<void>>();
  let closed = false;
  const connection = await keepConnected(options.url, {
    onError,
    confirmTimeoutMs,
    onDead: options.onDead,
    onState: options.onState,
    onRefusal: options.onRefusal,
    onFailed: options.onFailed ?? (() => {}),
    retryDelaysMs,
    prefetch: options.prefetch ?? 16,
    track: (work) => {
      underWay.add(work);
      void work.finally(() => underWay.delete(work));
    },
  });

  const reach = (): Link => {
    const link = connection.link();
    if (link === undefined) throw new BusUnavailable('RabbitMQ is out of reach.');
    return link;
  };

  const count = async (name: string) => (await reach().publisher.checkQueue(name)).messageCount;

  return {
    async publish(event) {
      if (closed) throw new Error('The bus is closed.');
      const link = reach();
      if (link.blocked) throw new BusUnavailable('RabbitMQ lacks resources and takes no events.');
      const { id, topic } = event;
      const { content, options: properties } = encode(event);
      await within(link.declareTopic(topic), confirmTimeoutMs);
      await confirmed(link.publisher, confirmTimeoutMs, {
        exchange: topicExchange(topic),
        routingKey: topic,
        content,
        options: { ...properties, mandatory: mustReach.has(topic) },
      });
      if (link.returned.delete(id)) throw new BusUnavailable(`No queue takes ${topic} yet.`);
    },
    async subscribe(subscription) {
      await connection.subscribe(subscription);
      queues.add(subscription.queue);
    },
    async redeliver(queue, event) {
      if (closed) throw new Error('The bus is closed.');
      await confirmed(reach().publisher, confirmTimeoutMs, {
        exchange: ownExchange(queue),
        routingKey: queueName(queue),
        ...lastTry(event),
      });
    },
    async takeDead(queue, most, keep) {
      const link = reach();
      try {
        return await link.takeDead(queue, most, keep);
      } catch (cause) {
        if (connection.link() === link) throw cause;
        throw new BusUnavailable('RabbitMQ was lost meanwhile.', { cause });
      }
    },
    listen: (topics, handler) => connection.listen({ topics, handler }),
    connected: () => connection.link() !== undefined,
    refused: connection.isRefused,
    ready: (timeoutMs) => within(connection.first(), timeoutMs),
    parked: (queue) => count(deadQueueName(queue)),
    async backlog() {
      if (connection.link() === undefined) return [];
      const retries = [...queues].flatMap((queue) =>
        retryDelaysMs.map((ms) => retryName(queue, ms)),
      );
      const backlogs = [
        ...[...queues].map(async (queue) => ({
          queue,
          waiting: await count(queueName(queue)),
          parked: await count(deadQueueName(queue)),
        })),
        ...[...new Set(retries)].map(async (queue) => ({
          queue,
          waiting: await count(queue),
          parked: 0,
        })),
      ];
      const all = pTimeout(Promise.all(backlogs), { milliseconds: countTimeoutMs });
      return await all.catch((): QueueBacklog[] => []);
    },
    async close() {
      if (closed) return;
      closed = true;
      await connection.link()?.quiesce();
      await within(Promise.allSettled(underWay), drainTimeoutMs).catch(onError);
      await connection.close();
    },
  };
};

const within = async (work: Promise<unknown>, timeoutMs: number): Promise<void> => {
  const message = new BusUnavailable(`RabbitMQ took longer than ${timeoutMs} ms.`);
  await pTimeout(work, { milliseconds: timeoutMs, message });
};
