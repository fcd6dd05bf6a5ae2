import type { ConfirmChannel, Options } from 'amqplib';
import pTimeout from 'p-timeout';
import { BusUnavailable } from './bus.ts';

export interface Outgoing {
  exchange: string;
  routingKey: string;
  content: Buffer;
  options: Options.Publish;
}

/** Resolves when the broker has the message in its queues. @throws BusUnavailable */
export const confirmed = async (
  channel: ConfirmChannel,
  timeoutMs: number,
  { exchange, routingKey, content, options }: Outgoing,
): Promise<void> => {
  const confirmation = new Promise<void>((resolve, reject) => {
    channel.publish(exchange, routingKey, content, options, (error: unknown) =>
      error ? reject(error) : resolve(),
    );
  });
  try {
    await pTimeout(confirmation, { milliseconds: timeoutMs });
  } catch (cause) {
    throw new BusUnavailable('RabbitMQ did not take the event over.', { cause });
  }
};
