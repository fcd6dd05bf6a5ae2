import type { ConfirmChannel, Options } from 'amqplib';
import { BusUnavailable } from './bus.ts';

export interface Outgoing {
  exchange: string;
  routingKey: string;
  content: Buffer;
  options: Options.Publish;
}

/** Resolves when the broker has the message in its queues. @throws BusUnavailable */
export const confirmed = (
  channel: ConfirmChannel,
  timeoutMs: number,
  { exchange, routingKey, content, options }: Outgoing,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (cause: unknown) => {
      clearTimeout(timer);
      reject(new BusUnavailable('RabbitMQ did not take the event over.', { cause }));
    };
    const timer = setTimeout(
      () => fail(new Error(`No confirmation within ${timeoutMs} ms.`)),
      timeoutMs,
    );
    try {
      channel.publish(exchange, routingKey, content, options, (error: unknown) => {
        if (error) return fail(error);
        clearTimeout(timer);
        resolve();
      });
    } catch (error) {
      fail(error);
    }
  });
