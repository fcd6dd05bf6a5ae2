import type { Bus } from '@backlot/bus';
import { type Database, traceDatabase } from '@backlot/database';
import { type Logger, type Tracer, withOrigin } from '@backlot/telemetry';

/** Its statements as spans; the database itself where nothing is traced. */
export const withTraces = (database: Database, tracer: Tracer | undefined): Database =>
  tracer
    ? traceDatabase(database, (name, work) =>
        tracer.within(
          `postgresql ${name}`,
          { kind: 'client', attributes: { 'db.system.name': 'postgresql' } },
          work,
        ),
      )
    : database;

/** For connectRedis. */
export const redisSteps = (tracer: Tracer | undefined) =>
  tracer &&
  ((name: string, work: () => Promise<unknown>) =>
    tracer.within(
      `redis ${name}`,
      { kind: 'client', attributes: { 'db.system.name': 'redis' } },
      work,
    ));

const attributesOf = (topic: string) => ({
  'messaging.system': 'rabbitmq',
  'messaging.destination.name': topic,
});

/** What handles an event names the call that it comes from, and goes on with its trace. */
export const withOrigins = (
  bus: Bus,
  log: Pick<Logger, 'debug'>,
  tracer: Tracer | undefined,
): Bus => ({
  ...bus,
  publish: (event) => {
    if (!tracer) return bus.publish(event);
    const { topic, origin } = event;
    const parent = origin?.traceparent;
    const options = { kind: 'producer', attributes: attributesOf(topic), parent } as const;
    return tracer.within(`send ${topic}`, options, ({ traceparent }) =>
      bus.publish({ ...event, origin: { ...origin, traceparent } }),
    );
  },
  subscribe: (subscription) =>
    bus.subscribe({
      ...subscription,
      handler: (event) => {
        const { topic, origin } = event;
        const handle = async () => {
          await subscription.handler(event);
          log.debug({ eventId: event.id, topic }, 'handled an event');
        };
        if (!tracer) return withOrigin(origin, handle);
        const parent = origin?.traceparent ?? null;
        const options = { kind: 'consumer', attributes: attributesOf(topic), parent } as const;
        return tracer.within(`handle ${topic}`, options, ({ traceparent }) =>
          withOrigin({ ...origin, traceparent }, handle),
        );
      },
    }),
});
