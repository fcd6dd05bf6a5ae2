import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import {
  type BusEvent,
  describeError,
  EventInvalid,
  maxDeliveries,
  type OnFailed,
  type Subscription,
} from './bus.ts';
import { confirmed } from './rabbitmq-confirm.ts';
import { decode, failedOptions, readTries } from './rabbitmq-message.ts';
import {
  deadQueueName,
  declareQueue,
  oldExchanges,
  oldQueueName,
  ownExchange,
  queueName,
  retryName,
} from './rabbitmq-topology.ts';

export interface ConsumerOptions {
  /** Handlers at work at once, per subscription. */
  prefetch: number;
  /** Waits after the first failure, the second and so on; the last one is repeated. */
  retryDelaysMs: readonly number[];
  confirmTimeoutMs: number;
  onFailed: OnFailed;
  onDead: (event: BusEvent | undefined, queue: string, error: unknown) => void;
  /** A delivery begins; it ends with the promise. */
  track: (work: Promise<void>) => void;
  /** The broker took the consumer away, although the connection stands. */
  onLost: () => void;
  /** Whether the broker has a queue of this name. */
  hasQueue: (name: string) => Promise<boolean>;
}

/**
 * Hands the queue's messages to the handler, each on its own: a failed one waits in a retry queue
 * while those behind it go on. Returns what ends it.
 */
export const consume = async (
  channel: ConfirmChannel,
  { queue, topics, handler, keepDead }: Subscription,
  options: ConsumerOptions,
): Promise<() => Promise<void>> => {
  const deliver = async (message: ConsumeMessage, exchanges: readonly string[]) => {
    try {
      const failure = await handle(message, exchanges);
      if (failure) await setAside(message, failure);
      channel.ack(message);
    } catch {
      // Without its acknowledgement the message comes again, here or elsewhere.
      giveBack(channel, message);
    }
  };

  const handle = async (
    message: ConsumeMessage,
    exchanges: readonly string[],
  ): Promise<Failure | undefined> => {
    let event: BusEvent;
    try {
      event = decode(message, exchanges);
    } catch (error) {
      return { error, event: undefined, tries: maxDeliveries };
    }
    try {
      await handler(event);
      return undefined;
    } catch (error) {
      const isHopeless = error instanceof EventInvalid;
      return { error, event, tries: isHopeless ? maxDeliveries : readTries(message) + 1 };
    }
  };

  const isKept = async (message: ConsumeMessage, event: BusEvent | undefined, error: unknown) => {
    try {
      await keepDead?.({ event, content: message.content, error: describeError(error) });
      return true;
    } catch {
      // Its dead queue has it until somebody can.
      return false;
    }
  };

  const setAside = async (message: ConsumeMessage, { error, event, tries }: Failure) => {
    const dead = tries >= maxDeliveries;
    if (dead && keepDead && (await isKept(message, event, error))) {
      options.onDead(event, queue, error);
      return;
    }
    if (event && tries === 1) options.onFailed(event, queue, error);
    const delays = options.retryDelaysMs;
    const delayMs = delays[Math.min(tries, delays.length) - 1] ?? 0;
    await confirmed(channel, options.confirmTimeoutMs, {
      exchange: dead ? ownExchange(queue) : retryName(queue, delayMs),
      routingKey: dead ? deadQueueName(queue) : queueName(queue),
      content: message.content,
      options: failedOptions(message, queue, tries, error, event !== undefined),
    });
    if (dead) options.onDead(event, queue, error);
  };

  const consumerTags: string[] = [];
  const take = async (name: string, exchanges: readonly string[]) => {
    const { consumerTag } = await channel.consume(name, (message) => {
      if (message === null) options.onLost();
      else options.track(deliver(message, exchanges));
    });
    consumerTags.push(consumerTag);
  };

  await declareQueue(channel, queue, topics, options.retryDelaysMs);
  await channel.prefetch(options.prefetch);
  await take(queueName(queue), [ownExchange(queue)]);
  const old = oldQueueName(queue);
  if (await options.hasQueue(old)) await take(old, oldExchanges);
  return async () => {
    for (const consumerTag of consumerTags) await channel.cancel(consumerTag);
  };
};

interface Failure {
  error: unknown;
  event: BusEvent | undefined;
  tries: number;
}

const giveBack = (channel: ConfirmChannel, message: ConsumeMessage) => {
  try {
    channel.nack(message, false, true);
  } catch {
    // The channel is closed: the broker has taken the message back already.
  }
};
