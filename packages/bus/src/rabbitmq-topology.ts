import type { ConfirmChannel } from 'amqplib';

/**
 * One durable topic exchange takes every event; its routing key is the topic. Each queue has its own
 * `.dead` queue. The retry queues are shared: a message waits there as long as the queue's name says
 * and then goes back to the queue that its routing key names.
 */
export const exchange = 'backlot.events';
export const queueName = (queue: string) => `backlot.${queue}`;
export const deadQueueName = (queue: string) => `backlot.${queue}.dead`;
/** Exchange and queue have the same name. */
export const retryName = (delayMs: number) => `backlot.retry.${delayMs}ms`;

/** Parked events of one queue; past this the oldest are dropped. */
const maxParked = 100_000;
/** Deliveries that end in a lost consumer, until the broker itself parks the message. */
const maxLostDeliveries = 20;

/** Nothing is lost on the way from one queue to the next; the overflow is a condition of it. */
const forwardTo = (target: string, routingKey?: string) => ({
  'x-dead-letter-exchange': target,
  ...(routingKey === undefined ? {} : { 'x-dead-letter-routing-key': routingKey }),
  'x-dead-letter-strategy': 'at-least-once',
  'x-overflow': 'reject-publish',
});

const quorum = (more: Record<string, unknown>) => ({
  durable: true,
  arguments: { 'x-queue-type': 'quorum', ...more },
});

export const declareExchange = async (
  channel: ConfirmChannel,
  retryDelaysMs: readonly number[],
): Promise<void> => {
  await channel.assertExchange(exchange, 'topic', { durable: true });
  for (const delayMs of new Set(retryDelaysMs)) {
    const name = retryName(delayMs);
    await channel.assertExchange(name, 'fanout', { durable: true });
    await channel.assertQueue(name, quorum({ 'x-message-ttl': delayMs, ...forwardTo('') }));
    await channel.bindQueue(name, name, '');
  }
};

/** Adds bindings; those of topics that the queue took before stay until they are removed by hand. */
export const declareQueue = async (
  channel: ConfirmChannel,
  queue: string,
  topics: readonly string[],
): Promise<void> => {
  const dead = deadQueueName(queue);
  await channel.assertQueue(dead, quorum({ 'x-max-length': maxParked }));
  await channel.assertQueue(
    queueName(queue),
    quorum({ 'x-delivery-limit': maxLostDeliveries, ...forwardTo('', dead) }),
  );
  for (const topic of topics) await channel.bindQueue(queueName(queue), exchange, topic);
};

/** The queue of this process alone; it goes with the connection. */
export const declareOwnQueue = async (
  channel: ConfirmChannel,
  topics: Iterable<string>,
): Promise<string> => {
  const { queue } = await channel.assertQueue('', {
    exclusive: true,
    autoDelete: true,
    durable: false,
    // For caches: the newest events matter, so that the oldest may be dropped.
    maxLength: 10_000,
  });
  for (const topic of topics) await channel.bindQueue(queue, exchange, topic);
  return queue;
};
