import type { ConsumeMessage, GetMessage, Message, Options } from 'amqplib';
import {
  type BusEvent,
  type DeadEvent,
  describeError,
  type EventOrigin,
  maxDeliveries,
} from './bus.ts';
import { topicExchange } from './rabbitmq-topology.ts';

/** How often handlers have failed on this message. */
const triesHeader = 'backlot-tries';
const errorHeader = 'backlot-error';
/** What it says of itself was not true, or can't be read. */
const noEventHeader = 'backlot-no-event';
const queueHeader = 'backlot-queue';
const requestIdHeader = 'backlot-request-id';
const traceparentHeader = 'traceparent';

const writeOrigin = ({ requestId, traceparent }: EventOrigin = {}) => ({
  ...(requestId !== undefined && { [requestIdHeader]: requestId }),
  ...(traceparent !== undefined && { [traceparentHeader]: traceparent }),
});

const readOrigin = ({ properties }: Pick<Message, 'properties'>): EventOrigin | undefined => {
  const { [requestIdHeader]: requestId, [traceparentHeader]: traceparent } =
    properties.headers ?? {};
  if (typeof requestId !== 'string' && typeof traceparent !== 'string') return undefined;
  return {
    ...(typeof requestId === 'string' && { requestId }),
    ...(typeof traceparent === 'string' && { traceparent }),
  };
};

export const encode = (event: BusEvent): { content: Buffer; options: Options.Publish } => ({
  content: Buffer.from(JSON.stringify(event.payload)),
  options: {
    persistent: true,
    messageId: event.id,
    // The exchange names the topic only until the first retry.
    type: event.topic,
    contentType: 'application/json',
    headers: writeOrigin(event.origin),
  },
});

/**
 * The event of a message that came through its topic's exchange, or one of these: who sends one topic may
 * not call it another.
 * @throws on a message that is no event
 */
export const decode = (
  message: Pick<Message, 'content' | 'properties'> & { fields: { exchange: string } },
  otherExchanges: readonly string[] = [],
): BusEvent => {
  const { fields, content, properties } = message;
  const { messageId: id, type: topic } = properties;
  if (typeof id !== 'string' || typeof topic !== 'string') {
    throw new TypeError('The message has no id or no topic.');
  }
  if (![topicExchange(topic), ...otherExchanges].includes(fields.exchange)) {
    throw new TypeError(`A message with the topic ${topic} came through "${fields.exchange}".`);
  }
  const origin = readOrigin(message);
  return { id, topic, payload: JSON.parse(content.toString()), ...(origin && { origin }) };
};

export const readTries = ({ properties }: ConsumeMessage): number => {
  const tries: unknown = properties.headers?.[triesHeader];
  return typeof tries === 'number' ? tries : 0;
};

/** The properties of an event that is handed to its queue for the last time. */
export const lastTry = (event: BusEvent) => {
  const { content, options } = encode(event);
  return {
    content,
    options: { ...options, headers: { ...options.headers, [triesHeader]: maxDeliveries - 1 } },
  };
};

/** What a dead queue holds. Only this process's own exchange leads there. */
export const readDead = (message: GetMessage, exchange: string): DeadEvent => {
  const { content, properties } = message;
  const error = describeError(properties.headers?.[errorHeader] ?? 'It was never acknowledged.');
  try {
    if (properties.headers?.[noEventHeader]) return { event: undefined, content, error };
    return { event: decode(message, [exchange]), content, error };
  } catch {
    return { event: undefined, content, error };
  }
};

/** The properties of a message that goes to a retry or dead queue. */
export const failedOptions = (
  message: ConsumeMessage,
  queue: string,
  tries: number,
  error: unknown,
  isEvent = true,
): Options.Publish => ({
  persistent: true,
  messageId: message.properties.messageId,
  type: message.properties.type,
  contentType: message.properties.contentType,
  headers: {
    ...writeOrigin(readOrigin(message)),
    [triesHeader]: tries,
    [queueHeader]: queue,
    ...(!isEvent && { [noEventHeader]: true }),
    [errorHeader]: describeError(error),
  },
});
