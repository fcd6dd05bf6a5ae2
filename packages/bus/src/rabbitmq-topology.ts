import type { Channel, ChannelModel, ConfirmChannel } from 'amqplib';

/**
 * Each topic has a fanout exchange: who may write there may send it, and nothing else. Each process has a
 * direct exchange that leads to its own queues by their names, and retry queues: a message waits there
 * as long as the name says, and then goes through that exchange to the queue that its routing key names.
 * Nothing needs the default exchange, which leads to every queue.
 */
export const topicExchange = (topic: string) => `backlot.events.${topic}`;
/** A queue's name begins with that of its process. */
export const ownExchange = (queue: string) => `backlot.${queue.split('.', 1)[0]}`;
export const queueName = (queue: string) => `backlot.${queue}.events`;
export const deadQueueName = (queue: string) => `backlot.${queue}.dead`;
/** Exchange and queue have the same name. */
export const retryName = (queue: string, delayMs: number) =>
  `${ownExchange(queue)}.retry.${delayMs}ms`;

/** Of the release before, in which events went through these exchanges: what lies there is still handled. */
export const oldQueueName = (queue: string) => `backlot.${queue}`;
export const oldExchanges = ['backlot.events', ''];

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

/** Whether the broker has it. What is not there ends the channel that asks for it. */
export const isThere = async (
  model: ChannelModel,
  look: (channel: Channel) => Promise<unknown>,
): Promise<boolean> => {
  const channel = await model.createChannel();
  channel.on('error', () => undefined);
  try {
    await look(channel);
  } catch {
    return false;
  }
  await channel.close();
  return true;
};

/** Users that have rights of their own may not declare it: the broker has it from its definitions. */
export const declareTopic = async (model: ChannelModel, topic: string): Promise<void> => {
  const name = topicExchange(topic);
  if (await isThere(model, (channel) => channel.checkExchange(name))) return;
  const channel = await model.createChannel();
  channel.on('error', () => undefined);
  await channel.assertExchange(name, 'fanout', { durable: true });
  await channel.close();
};

/** Adds bindings; those of topics that the queue took before stay until they are removed by hand. */
export const declareQueue = async (
  channel: ConfirmChannel,
  queue: string,
  topics: readonly string[],
  retryDelaysMs: readonly number[],
): Promise<void> => {
  const [own, name, dead] = [ownExchange(queue), queueName(queue), deadQueueName(queue)];
  await channel.assertExchange(own, 'direct', { durable: true });
  for (const delayMs of new Set(retryDelaysMs)) {
    const retry = retryName(queue, delayMs);
    await channel.assertExchange(retry, 'fanout', { durable: true });
    await channel.assertQueue(retry, quorum({ 'x-message-ttl': delayMs, ...forwardTo(own) }));
    await channel.bindQueue(retry, retry, '');
  }
  await channel.assertQueue(dead, quorum({ 'x-max-length': maxParked }));
  await channel.bindQueue(dead, own, dead);
  await channel.assertQueue(
    name,
    quorum({ 'x-delivery-limit': maxLostDeliveries, ...forwardTo(own, dead) }),
  );
  await channel.bindQueue(name, own, name);
  for (const topic of topics) await channel.bindQueue(name, topicExchange(topic), '');
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
  for (const topic of topics) await channel.bindQueue(queue, topicExchange(topic), '');
  return queue;
};
