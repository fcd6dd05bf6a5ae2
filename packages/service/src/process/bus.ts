import type { Bus } from '@backlot/bus';
import { createRabbitmqBus, type RabbitmqBus } from '@backlot/bus/rabbitmq';
import type { Topic } from '@backlot/contract';
import type { Finding } from '@backlot/http';
import { countRepeats, type Logger } from '@backlot/telemetry';
import { reportRefusal } from './refusals.ts';

/** Events that stay in the outbox until somebody has a queue for them. */
const mustReach: Topic[] = [
  'usage.recorded',
  'user.erased',
  'user.merged',
  'project.erased',
  'mail.requested',
  'credits.low',
  'record.paid',
  'record.settled',
];

/** How the bus is; nothing where events stay in this process. */
export const findBus = ({ connected, refused }: Bus): Finding[] => {
  if (!connected) return [];
  const name = 'rabbitmq';
  if (connected()) return [{ name, state: 'works' }];
  return [{ name, state: 'degraded', ...(refused?.() && { reason: 'refuses_user' }) }];
};

export const openBus = (
  url: string,
  log: Logger,
  onState: (connected: boolean) => unknown = () => {},
): Promise<RabbitmqBus> =>
  createRabbitmqBus({
    url,
    mustReach,
    // A consumer books what it has been handed in one transaction: 11,500 usage events/s of one owner
    // with 64 at once, 870 one by one.
    prefetch: 64,
    onDead: (event, queue, err) =>
      log.error({ eventId: event?.id, topic: event?.topic, queue, err }, 'parked an event'),
    onFailed: ({ id, topic }, queue, err) =>
      log.warn({ eventId: id, topic, queue, err }, 'an event failed; it is tried again'),
    onError: countRepeats((failure) => log.warn(failure, 'RabbitMQ')),
    onRefusal: reportRefusal(log, 'RabbitMQ', 'AMQP_URL'),
    onState: (connected) => {
      log.info({ connected }, 'events');
      onState(connected);
    },
  });
