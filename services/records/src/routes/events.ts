import { recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { parseAskedEvents } from '../live/asked-events.ts';
import type { LiveStreams } from '../live/live-streams.ts';

export const openEvents = (streams: LiveStreams) =>
  route(recordRoutes.openEvents, async ({ query, identity, header, signal }) => {
    const asked = parseAskedEvents(query, identity);
    const lastEventId = header('last-event-id') ?? query.lastEventId;
    return { events: await streams.open(identity, asked, lastEventId, signal) };
  });
