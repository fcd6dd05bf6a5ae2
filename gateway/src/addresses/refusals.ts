import { Counter, type Registry } from '@backlot/telemetry';

/** What an address had too much of, or was too slow with. */
const bounds = [
  'connections',
  'open-calls',
  'streams',
  'body-bytes',
  'pace',
  'calls',
  'lookups',
  'pages',
];
export type AddressBound = (typeof bounds)[number];

export type CountRefusal = (bound: AddressBound) => void;

/** Counts refusals for the metrics; nowhere without a registry. */
export const createCountRefusal = (registry: Registry | undefined): CountRefusal => {
  if (!registry) return () => {};
  const refusals = new Counter({
    name: 'backlot_address_refusals_total',
    help: 'Connections and calls refused because of what their network address uses',
    labelNames: ['bound'] as const,
    registers: [registry],
  });
  for (const bound of bounds) refusals.inc({ bound }, 0);
  return (bound) => refusals.inc({ bound });
};
