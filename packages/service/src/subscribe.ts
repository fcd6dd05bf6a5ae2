import { type Bus, listenTo, subscribeTo } from '@backlot/bus';
import { events, type ServiceName } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { ServiceParts } from './define-service.ts';
import type { ParkedEvents } from './parked-events/parked-events.ts';

type AnyHandler = (payload: object, eventId: string) => Promise<unknown>;

export type Scopes = Pick<Database, 'inProject' | 'acrossProjects'>;

/** What is about one project reaches that one's rows alone. */
const inScope =
  ({ inProject, acrossProjects }: Scopes, handler: AnyHandler): AnyHandler =>
  (payload, eventId) => {
    const handle = () => handler(payload, eventId);
    return 'projectNumber' in payload && typeof payload.projectNumber === 'number'
      ? inProject(payload.projectNumber, handle)
      : acrossProjects(handle);
  };

export const queueFor = (name: ServiceName, topic: string) => `${name}.${topic.replace('.', '-')}`;

/** Hears of everything that the service has handlers and listeners for. */
export const subscribe = async (
  name: ServiceName,
  bus: Bus,
  scopes: Scopes,
  parts: ServiceParts<object>,
  parked: ParkedEvents,
) => {
  for (const [topic, handler] of Object.entries(parts.subscriptions ?? {})) {
    const queue = queueFor(name, topic);
    const handlers = { [topic]: inScope(scopes, handler as AnyHandler) };
    await subscribeTo(bus, events, queue, handlers, (dead) => parked.keep(queue, dead));
  }
  await listenTo(bus, events, parts.listeners ?? {});
};
