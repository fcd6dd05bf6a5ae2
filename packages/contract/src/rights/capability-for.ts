import type { RouteDefinition } from '../define-route.ts';
import type { Capability } from './suspensions.ts';

const byLimit: Partial<Record<RouteDefinition['limit'], Capability>> = {
  email: 'mail',
  ai: 'ai',
  upload: 'uploads',
  write: 'writes',
  messages: 'writes',
  payments: 'payments',
};

/** Services whose calls that write are what their users do with an app, and not with their account. */
const ofApps: readonly string[] = ['records', 'storage'];

/** What is needed that this route may be called; null where it goes on until all is suspended. */
export const capabilityFor = ({
  capability,
  plane,
  service,
  limit,
}: Pick<RouteDefinition, 'capability' | 'plane' | 'service' | 'limit'>):
  | Capability
  | 'every'
  | null => {
  if (capability) return capability;
  if (plane === 'platform') return null;
  const needed = byLimit[limit] ?? null;
  return needed === 'writes' && !ofApps.includes(service) ? null : needed;
};
