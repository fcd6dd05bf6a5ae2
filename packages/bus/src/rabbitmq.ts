import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { type Bus, type BusEvent, BusUnavailable, type Subscription } from './bus.ts';
import { confirmed } from './rabbitmq-confirm.ts';
import { type ConsumerOptions, consume } from './rabbitmq-consumer.ts';
import { decode, encode } from './rabbitmq-message.ts';
import { deadQueueName, declareExchange, declareOwnQueue, exchange } from './rabbitmq-topology.ts';

export interface RabbitmqBusOptions {
  url: string;
  /** Told of each event that is parked in its queue's dead queue; undefined where it is no event. */
  onDead: (event: BusEvent | undefined, queue: string, error: unknown) => void;
  /** Told of failed connections and listeners. */
  onError: (error: unknown) => void;
  /** Told when the bus is reached, and when it is lost: what listeners missed is not made up for. */
  onState?: (connected: boolean) => void;
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
  /** True while events can be published and are heard. */
  connected(): boolean;
  /** Resolves at the first connection. @throws BusUnavailable after this time */
  ready(timeoutMs: number): Promise<void>;
  /** Events parked in the queue's dead queue. @throws BusUnavailable */
  parked(queue: string): Promise<number>;
}

interface Listener {
  topics: readonly string[];
  handler: (event: BusEvent) => void;
}

/** What belongs to one connection. */
interface Link {
  model: ChannelModel;
  publisher: ConfirmChannel;
  endings: (() => Promise<void>)[];
  blocked: boolean;
  /** Ids of events that no queue took; the broker returns one before it confirms it. */
  returned: Set<string>;
}

const heartbeatSeconds = 10;
const connectTimeoutMs = 5_000;
const drainTimeoutMs = 10_000;

/**
 * The bus between processes. It connects by itself, and again after each loss, by when it has put
 * back all subscriptions and listeners. Events may come twice and out of order.
 */
export const createRabbitmqBus = async (options: RabbitmqBusOptions): Promise<RabbitmqBus> => {
  const { onError, onState = () => undefined, confirmTimeoutMs = 10_000 } = options;
  const retryDelaysMs = options.retryDelaysMs ?? [1_000, 10_000, 60_000, 600_000];
  const mustReach = new Set(options.mustReach);
  const subscriptions: Subscription[] = [];
  const listeners: Listener[] = [];
  const underWay = new Set<Promise<void>>();
  let link: Link | undefined;
  let closed = false;

  const consumerOptions = (model: ChannelModel): ConsumerOptions => ({
    prefetch: options.prefetch ?? 16,
    retryDelaysMs,
    confirmTimeoutMs,
    onDead: options.onDead,
    onLost: () => renew(model),
    track: (work) => {
      underWay.add(work);
      void work.finally(() => underWay.delete(work));
    },
  });

  /** Ends the connection where it still stands, so that the next one puts everything back. */
  const renew = (model: ChannelModel) => void model.close().catch(() => undefined);

  const openChannel = async (model: ChannelModel) => {
    const channel = await model.createConfirmChannel();
    channel.on('error', onError);
    // A channel ends alone only by a fault of protocol; then all begins anew.
    channel.on('close', () => renew(model));
    return channel;
  };

  const establish = async (model: ChannelModel, subscription: Subscription) =>
    consume(await openChannel(model), subscription, consumerOptions(model));

  const hear = async (model: ChannelModel, { topics, handler }: Listener) => {
    const channel = await openChannel(model);
    const queue = await declareOwnQueue(channel, topics);
    const onMessage: Parameters<ConfirmChannel['consume']>[1] = (message) => {
      try {
        if (message === null) renew(model);
        else handler(decode(message));
      } catch (error) {
        onError(error);
      }
    };
    await channel.consume(queue, onMessage, { noAck: true });
  };

  const setUp = async (model: ChannelModel) => {
    model.on('error', onError);
    const publisher = await openChannel(model);
    await declareExchange(publisher, retryDelaysMs);
    const next: Link = { model, publisher, endings: [], blocked: false, returned: new Set() };
    publisher.on('return', ({ properties }) => next.returned.add(String(properties.messageId)));
    model.on('blocked', () => {
      next.blocked = true;
    });
    model.on('unblocked', () => {
      next.blocked = false;
    });
    model.once('close', () => {
      if (link !== next) return;
      link = undefined;
      onState(false);
    });
    // Both lists may grow meanwhile; what is added later finds the link.
    for (const subscription of subscriptions)
      next.endings.push(await establish(model, subscription));
    for (const listener of listeners) await hear(model, listener);
    link = next;
    onState(true);
  };

  const connection = await connect(withHeartbeat(options.url), {
    timeout: connectTimeoutMs,
    recovery: { setup: setUp, waitForConnect: false, maxDelay: 2_000, jitter: 0.5 },
  });
  connection.on('error', () => undefined);
  connection.on('connect-failed', onError);

  /** What fails on a connection that is lost meanwhile is made up for on the next one. */
  const addTo = async <T>(list: T[], entry: T, work: (current: Link) => Promise<void>) => {
    list.push(entry);
    const current = link;
    if (current === undefined) return;
    await work(current).catch((error) => {
      if (link !== current) return;
      list.splice(list.indexOf(entry), 1);
      throw error;
    });
  };

  return {
    async publish(event) {
      if (closed) throw new Error('The bus is closed.');
      const current = link;
      if (current === undefined) throw new BusUnavailable('RabbitMQ is out of reach.');
      if (current.blocked)
        throw new BusUnavailable('RabbitMQ lacks resources and takes no events.');
      const { id, topic } = event;
      const { content, options: properties } = encode(event);
      await confirmed(current.publisher, confirmTimeoutMs, {
        exchange,
        routingKey: topic,
        content,
        options: { ...properties, mandatory: mustReach.has(topic) },
      });
      if (current.returned.delete(id)) throw new BusUnavailable(`No queue takes ${topic} yet.`);
    },
    subscribe: (subscription) =>
      addTo(subscriptions, subscription, async (current) => {
        current.endings.push(await establish(current.model, subscription));
      }),
    listen: (topics, handler) =>
      addTo(listeners, { topics, handler }, (current) => hear(current.model, { topics, handler })),
    connected: () => link !== undefined,
    ready: (timeoutMs) => within(connection.waitForConnect(), timeoutMs),
    async parked(queue) {
      if (link === undefined) throw new BusUnavailable('RabbitMQ is out of reach.');
      return (await link.publisher.checkQueue(deadQueueName(queue))).messageCount;
    },
    async close() {
      if (closed) return;
      closed = true;
      await Promise.allSettled(link?.endings.map((end) => end()) ?? []);
      await within(Promise.allSettled(underWay), drainTimeoutMs).catch(onError);
      link = undefined;
      await connection.close();
    },
  };
};

const within = async (work: Promise<unknown>, timeoutMs: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new BusUnavailable(`RabbitMQ took longer than ${timeoutMs} ms.`);
    timer = setTimeout(() => reject(error), timeoutMs);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
};

const withHeartbeat = (url: string): string => {
  const parsed = new URL(url);
  if (!parsed.searchParams.has('heartbeat')) {
    parsed.searchParams.set('heartbeat', String(heartbeatSeconds));
  }
  return parsed.href;
};
