import type { LimitClass } from './define-route.ts';
import { routes } from './routes/index.ts';
import type { ServiceName } from './services.ts';

const usualTimeoutMs = 30_000;
const timeoutsMs: Partial<Record<LimitClass, number>> = { ai: 75_000, upload: 300_000 };

/** How long the gateway waits for the answer to a call of this class. */
export const callTimeoutMs = (limit: LimitClass): number => timeoutsMs[limit] ?? usualTimeoutMs;

/** The longest that a call of this service, or of any, may take. */
export const longestCallMs = (service?: ServiceName): number =>
  Math.max(
    ...routes
      .filter((route) => service === undefined || route.service === service)
      .map(({ limit }) => callTimeoutMs(limit)),
  );
