import { createRabbitmqBus, type RabbitmqBus } from '@backlot/bus/rabbitmq';
import type { Topic } from '@backlot/contract';
import { countRepeats, type Logger } from '@backlot/telemetry';

/** Events that stay in the outbox until somebody has a queue for them. */
const mustReach: Topic[] = [
  'usage.recorded',
  'user.erased',
  'project.erased',
  'mail.requested',
  'credits.low',
  'record.paid',
  'record.settled',
];

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
    onState: (connected) => {
      log.info({ connected }, 'events');
      onState(connected);
    },
  });
