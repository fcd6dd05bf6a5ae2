import type { ConsumeMessage, Options } from 'amqplib';
import type { BusEvent } from './bus.ts';
import { topicExchange } from './rabbitmq-topology.ts';

/** How often handlers have failed on this message. */
const triesHeader = 'backlot-tries';
const errorHeader = 'backlot-error';
const queueHeader = 'backlot-queue';
const maxErrorLength = 500;

export const encode = (event: BusEvent): { content: Buffer; options: Options.Publish } => ({
  content: Buffer.from(JSON.stringify(event.payload)),
  options: {
    persistent: true,
    messageId: event.id,
    // The exchange names the topic only until the first retry.
    type: event.topic,
    contentType: 'application/json',
  },
});

/**
 * The event of a message that came through its topic's exchange, or one of these: who sends one topic may
 * not call it another.
 * @throws on a message that is no event
 */
export const decode = (
  { fields, content, properties }: ConsumeMessage,
  otherExchanges: readonly string[] = [],
): BusEvent => {
  const { messageId: id, type: topic } = properties;
  if (typeof id !== 'string' || typeof topic !== 'string') {
    throw new TypeError('The message has no id or no topic.');
  }
  if (![topicExchange(topic), ...otherExchanges].includes(fields.exchange)) {
    throw new TypeError(`A message with the topic ${topic} came through "${fields.exchange}".`);
  }
  return { id, topic, payload: JSON.parse(content.toString()) };
};

export const readTries = ({ properties }: ConsumeMessage): number => {
  const tries: unknown = properties.headers?.[triesHeader];
  return typeof tries === 'number' ? tries : 0;
};

/** The properties of a message that goes to a retry or dead queue. */
export const failedOptions = (
  { properties }: ConsumeMessage,
  queue: string,
  tries: number,
  error: unknown,
): Options.Publish => ({
  persistent: true,
  messageId: properties.messageId,
  type: properties.type,
  contentType: properties.contentType,
  headers: {
    [triesHeader]: tries,
    [queueHeader]: queue,
    [errorHeader]: String(error).slice(0, maxErrorLength),
  },
});
