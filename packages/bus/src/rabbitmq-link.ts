import type { ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib';
import { type Bus, type BusEvent, BusUnavailable, type Subscription } from './bus.ts';
import { type ConsumerOptions, consume } from './rabbitmq-consumer.ts';
import { decode, readDead } from './rabbitmq-message.ts';
import {
  deadQueueName,
  declareOwnQueue,
  declareTopic,
  isThere,
  ownExchange,
} from './rabbitmq-topology.ts';

export interface Listener {
  topics: readonly string[];
  handler: (event: BusEvent) => void;
}

export interface LinkOptions extends Omit<ConsumerOptions, 'onLost' | 'hasQueue'> {
  onError: (error: unknown) => void;
}

/** What belongs to one connection and ends with it. */
export interface Link {
  publisher: ConfirmChannel;
  /** The broker lacks memory or disk and takes nothing. */
  blocked: boolean;
  /** Ids of events that no queue took; the broker returns one before it confirms it. */
  returned: Set<string>;
  /** The topic has its exchange. @throws BusUnavailable */
  declareTopic(topic: string): Promise<void>;
  subscribe(subscription: Subscription): Promise<void>;
  listen(listener: Listener): Promise<void>;
  /** `Bus.takeDead`, on a channel of its own. */
  takeDead: Bus['takeDead'];
  /** Takes no further deliveries. */
  quiesce(): Promise<void>;
}

export const openLink = async (model: ChannelModel, options: LinkOptions): Promise<Link> => {
  model.on('error', options.onError);
  const consumerEnds: (() => Promise<void>)[] = [];
  const declared = new Map<string, Promise<void>>();
  const hasQueue = (name: string) => isThere(model, (channel) => channel.checkQueue(name));
  const link: Link = {
    publisher: await openChannel(model, options),
    blocked: false,
    returned: new Set(),
    declareTopic(topic) {
      const declaring =
        declared.get(topic) ??
        declareTopic(model, topic).catch((cause) => {
          declared.delete(topic);
          throw new BusUnavailable(`RabbitMQ has no exchange for ${topic}.`, { cause });
        });
      declared.set(topic, declaring);
      return declaring;
    },
    async subscribe(subscription) {
      for (const topic of subscription.topics) await link.declareTopic(topic);
      const channel = await openChannel(model, options);
      const onLost = () => renew(model);
      consumerEnds.push(await consume(channel, subscription, { ...options, onLost, hasQueue }));
    },
    async listen(listener) {
      for (const topic of listener.topics) await link.declareTopic(topic);
      await consumeOwnQueue(model, await openChannel(model, options), listener, options);
    },
    async takeDead(queue, most, keep) {
      const channel = await model.createChannel();
      channel.on('error', () => undefined);
      let taken = 0;
      try {
        for (; taken < most; taken++) {
          const message = await channel.get(deadQueueName(queue));
          if (!message) break;
          await keep(readDead(message, ownExchange(queue)));
          channel.ack(message);
        }
      } finally {
        // What was not acknowledged goes back.
        await channel.close().catch(() => undefined);
      }
      return taken;
    },
    async quiesce() {
      await Promise.allSettled(consumerEnds.map((end) => end()));
    },
  };
  model.on('blocked', () => {
    link.blocked = true;
  });
  model.on('unblocked', () => {
    link.blocked = false;
  });
  link.publisher.on('return', ({ properties }) => link.returned.add(String(properties.messageId)));
  return link;
};

/** A channel ends alone only by a fault of protocol; then all begins anew. */
const openChannel = async (model: ChannelModel, { onError }: LinkOptions) => {
  const channel = await model.createConfirmChannel();
  channel.on('error', onError);
  channel.on('close', () => renew(model));
  return channel;
};

/** Ends the connection where it still stands, so that the next one puts everything back. */
const renew = (model: ChannelModel) => void model.close().catch(() => undefined);

const consumeOwnQueue = async (
  model: ChannelModel,
  channel: ConfirmChannel,
  { topics, handler }: Listener,
  { onError }: LinkOptions,
) => {
  const onMessage = (message: ConsumeMessage | null) => {
    try {
      if (message === null) renew(model);
      else handler(decode(message));
    } catch (error) {
      onError(error);
    }
  };
  const queue = await declareOwnQueue(channel, topics);
  await channel.consume(queue, onMessage, { noAck: true });
};
