import type { PoolUsage } from '@backlot/database';
import { Gauge, type Registry } from '@backlot/telemetry';

/** Shows at each look at the metrics how full the pools are. Nowhere without a registry. */
export const measurePools = (
  registry: Registry | undefined,
  pools: () => readonly PoolUsage[],
): void => {
  if (!registry) return;
  const gauge = (name: string, help: string, read: (usage: PoolUsage) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'] as const,
      registers: [registry],
      collect() {
        for (const usage of pools()) this.set({ pool: usage.pool }, read(usage));
      },
    });
  gauge(
    'backlot_postgres_connections_most',
    'Connections to PostgreSQL at most',
    ({ most }) => most,
  );
  gauge('backlot_postgres_connections_open', 'Connections to PostgreSQL', ({ open }) => open);
  gauge(
    'backlot_postgres_connections_busy',
    'Connections to PostgreSQL in use',
    ({ open, idle }) => open - idle,
  );
  gauge(
    'backlot_postgres_connections_waiting',
    'Callers who wait for a connection to PostgreSQL',
    ({ waiting }) => waiting,
  );
};
