import {
  type Bus,
  type BusEvent,
  type DeadEvent,
  describeError,
  EventInvalid,
  maxDeliveries,
  type OnFailed,
  type Subscription,
} from './bus.ts';

export interface InProcessBusOptions {
  /** Told of each event that no delivery succeeded for. */
  onDead: (event: BusEvent, queue: string, error: unknown) => void;
  onFailed?: OnFailed;
  /** Waits between deliveries, in milliseconds; doubled each time. Default 50. */
  retryDelayMs?: number;
}

const toDead = (event: BusEvent, error: unknown): DeadEvent => ({
  event,
  content: Buffer.from(JSON.stringify(event.payload) ?? ''),
  error: describeError(error),
});

/**
 * The bus of the all-in-one. `publish` resolves when every queue has handled the event or given it
 * up, so that the outbox row of an event stays until its work is done and a crash loses nothing.
 */
export const createInProcessBus = ({
  onDead,
  onFailed = () => {},
  retryDelayMs = 50,
}: InProcessBusOptions): Bus => {
  const queues = new Map<string, { members: Subscription[]; turn: number }>();
  const listeners: { topics: readonly string[]; handler: (event: BusEvent) => void }[] = [];
  const underWay = new Set<Promise<void>>();
  let closed = false;

  const deliver = async (queue: string, event: BusEvent, first = 1) => {
    const { members } = queues.get(queue) ?? { members: [] };
    const interested = members.filter(({ topics }) => topics.includes(event.topic));
    if (interested.length === 0) return;
    for (let delivery = first; ; delivery++) {
      const group = queues.get(queue);
      const member = interested[(group ? group.turn++ : 0) % interested.length];
      try {
        await member?.handler(event);
        return;
      } catch (error) {
        if (delivery === maxDeliveries || error instanceof EventInvalid) {
          onDead(event, queue, error);
          await member
            ?.keepDead?.(toDead(event, error))
            .catch((cause) => onDead(event, queue, cause));
          return;
        }
        if (delivery === 1) onFailed(event, queue, error);
        await new Promise((resolve) => setTimeout(resolve, retryDelayMs * 2 ** (delivery - 1)));
      }
    }
  };

  const deliverAll = async (event: BusEvent) => {
    for (const { topics, handler } of listeners) {
      try {
        if (topics.includes(event.topic)) handler(event);
      } catch (error) {
        onDead(event, 'listener', error);
      }
    }
    await Promise.all([...queues.keys()].map((queue) => deliver(queue, event)));
  };

  return {
    async publish(event) {
      if (closed) throw new Error('The bus is closed.');
      const work = deliverAll(event);
      underWay.add(work);
      await work.finally(() => underWay.delete(work));
    },
    async subscribe(subscription) {
      const group = queues.get(subscription.queue) ?? { members: [], turn: 0 };
      group.members.push(subscription);
      queues.set(subscription.queue, group);
    },
    async listen(topics, handler) {
      listeners.push({ topics, handler });
    },
    async redeliver(queue, event) {
      if (closed) throw new Error('The bus is closed.');
      const work = deliver(queue, event, maxDeliveries);
      underWay.add(work);
      await work.finally(() => underWay.delete(work));
    },
    takeDead: async () => 0,
    // Who publishes waits until all is handled.
    backlog: async () => [],
    async close() {
      closed = true;
      await Promise.allSettled(underWay);
    },
  };
};
