import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** One registry per process, handed down; nothing is registered globally. */
export const createRegistry = (service: string): Registry => {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
};

export interface HttpMetrics {
  observe(operation: string, status: number, seconds: number): void;
}

/** Calls by operation and status, and how long they took; the operation is the contract's operationId. */
export const createHttpMetrics = (registry: Registry): HttpMetrics => {
  const calls = new Counter({
    name: 'backlot_http_requests_total',
    help: 'Calls answered',
    labelNames: ['operation', 'status'] as const,
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'backlot_http_request_duration_seconds',
    help: 'From the first byte read to the last byte written',
    labelNames: ['operation'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers: [registry],
  });
  /** Children by label values, because prom-client sorts and joins the labels at each use. */
  const seriesByLabels = new Map<string, { count: () => void; time: (seconds: number) => void }>();
  const findSeries = (operation: string, status: number) => {
    const key = `${operation} ${status}`;
    const found = seriesByLabels.get(key);
    if (found) return found;
    const counter = calls.labels(operation, String(status));
    const histogram = duration.labels(operation);
    const series = {
      count: () => counter.inc(),
      time: (seconds: number) => histogram.observe(seconds),
    };
    seriesByLabels.set(key, series);
    return series;
  };
  return {
    observe(operation, status, seconds) {
      const { count, time } = findSeries(operation, status);
      count();
      time(seconds);
    },
  };
};
