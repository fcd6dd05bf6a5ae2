import { Counter, Gauge, type Registry } from '@backlot/telemetry';

export const differenceKinds = ['lines', 'balance', 'grants', 'held'] as const;
/** What reconciliation compares; see `reconciliation.ts`. */
export type DifferenceKind = (typeof differenceKinds)[number];

export type LedgerMetrics = ReturnType<typeof createLedgerMetrics>;

/** Counted nowhere without a registry. */
export const createLedgerMetrics = (registry: Registry | undefined) => {
  const registers = registry ? [registry] : [];
  const differences = new Gauge({
    name: 'backlot_ledger_differences',
    help: 'Owners whose ledger was inconsistent at the last reconciliation',
    labelNames: ['kind'] as const,
    registers,
  });
  const corrected = new Counter({
    name: 'backlot_ledger_corrected_millicredits_total',
    help: 'Usage beyond an owner’s credits, paid by the platform',
    registers,
  });
  const notificationFailed = new Counter({
    name: 'backlot_ledger_notifications_failed_total',
    help: 'Bookings that the credit counters were not notified of; retried later',
    registers,
  });
  return {
    corrected: (millicredits: number) => corrected.inc(millicredits),
    notificationFailed: () => notificationFailed.inc(),
    reconciled(counts: Record<DifferenceKind, number>) {
      for (const kind of differenceKinds) differences.set({ kind }, counts[kind]);
    },
  };
};
