import type { Payload, Topic } from '@backlot/contract';
import type { Outbox } from '@backlot/database';

export interface Events {
  /** Sent once the surrounding transaction has committed, never when it rolls back. */
  emit<T extends Topic>(topic: T, payload: Payload<T>): Promise<void>;
}

export const createEvents = (outbox: Outbox): Events => ({
  emit: (topic, payload) => outbox.append(topic, payload),
});
