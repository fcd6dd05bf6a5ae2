import { type AppEvent, type AppEventType, platformProject } from '@backlot/contract';
import { uuidv7 } from 'uuidv7';

export interface Happening {
  projectNumber: number;
  type: AppEventType;
  /** Events of one are told in their order: `user/<id>`. */
  orderKey: string;
  data: Record<string, unknown>;
  /** Whom it is about. */
  userId?: string | null;
}

export type TellApp = (happening: Happening) => Promise<void>;

/**
 * Stores, in the surrounding transaction, what an app's owner may want to be told of. What happens to owners
 * themselves is told to nobody.
 */
export const createTellApp =
  (
    outbox: { append(topic: 'app.event', payload: AppEvent): Promise<void> },
    now: () => number,
  ): TellApp =>
  async (happening) => {
    if (happening.projectNumber === platformProject.number) return;
    const occurredAt = new Date(now()).toISOString();
    await outbox.append('app.event', { ...happening, id: uuidv7(), occurredAt });
  };
