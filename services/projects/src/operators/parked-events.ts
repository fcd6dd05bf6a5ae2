import {
  ApiError,
  type ParkedEvent,
  type ParkedEventContent,
  type ServiceOperations,
  serviceNames,
} from '@backlot/contract';
import { type Page, type PageQuery, presentPage, readPosition } from '@backlot/http';
import type { AllServices } from './all-services.ts';

type Shown<Event> = Event & { service: string };

const notFound = () => new ApiError('not_found', 'There is no such event.');

/** Each service keeps its own; the control plane asks them. */
export const createParkedEvents = (services: AllServices) => {
  const ask = async <T>(service: string, work: (asked: ServiceOperations) => Promise<T>) => {
    try {
      return await work(services.of(service));
    } catch (cause) {
      if (cause instanceof ApiError) throw cause;
      throw new ApiError('unavailable', `The service ${service} does not answer.`, {
        cause,
        retryAfterSeconds: 2,
      });
    }
  };

  return {
    /** @throws ApiError invalid_cursor */
    async list(
      query: PageQuery & { service?: string | undefined },
    ): Promise<Page<Shown<ParkedEvent>> & { missing: string[] }> {
      const before = readPosition('parked-events', query.cursor)?.id;
      const asked = query.service === undefined ? serviceNames : [query.service];
      const { answers, missing } = await services.askAll(asked, ({ listParked }) =>
        listParked({ limit: query.limit + 1, before }),
      );
      const events = answers.flatMap(({ service, answer }) =>
        answer.map((event) => ({ ...event, service })),
      );
      // Ids are UUIDv7: their order is that of time.
      const rows = events
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .map((event) => ({ ...event, created_at: new Date(event.parkedAt) }));
      const page = presentPage(
        'parked-events',
        query,
        rows,
        ({ created_at: _, ...event }) => event,
      );
      return { ...page, missing };
    },

    /** @throws ApiError not_found, unavailable */
    async show(service: string, id: string): Promise<Shown<ParkedEventContent>> {
      const event = await ask(service, ({ showParked }) => showParked(id));
      if (!event) throw notFound();
      return { ...event, service };
    },

    /** @throws ApiError not_found, conflict, unavailable */
    async replay(service: string, id: string): Promise<void> {
      const outcome = await ask(service, ({ replayParked }) => replayParked(id));
      switch (outcome) {
        case 'replayed':
          return;
        case 'gone':
          throw notFound();
        case 'busy':
          throw new ApiError('conflict', 'The event is being replayed already.');
        case 'no-event':
          throw new ApiError('conflict', 'The message is no event, so that nobody can handle it.', {
            hint: 'Look at it, and drop it.',
          });
      }
    },

    /** @throws ApiError not_found, unavailable */
    async drop(service: string, id: string): Promise<void> {
      if (!(await ask(service, ({ dropParked }) => dropParked(id)))) throw notFound();
    },
  };
};

export type ParkedEvents = ReturnType<typeof createParkedEvents>;
