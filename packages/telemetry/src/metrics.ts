import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** One registry per process, handed down; nothing is registered globally. */
export const createRegistry = (service: string): Registry => {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
};

/** A route: the contract's operationId and rate class. */
export interface MeasuredRoute {
  operationId: string;
  limit: string;
}

export interface HttpMetrics {
  observe(route: MeasuredRoute, status: number, seconds: number): void;
}

/** Calls by operation, class and status, and how long they took. */
export const createHttpMetrics = (registry: Registry): HttpMetrics => {
  const calls = new Counter({
    name: 'backlot_http_requests_total',
    help: 'Calls answered',
    labelNames: ['operation', 'class', 'status'] as const,
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'backlot_http_request_duration_seconds',
    help: 'From the first byte read to the last byte written',
    labelNames: ['operation', 'class'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers: [registry],
  });
  /** Children by label values, because prom-client sorts and joins the labels at each use. */
  const seriesByLabels = new Map<string, { count: () => void; time: (seconds: number) => void }>();
  const findSeries = ({ operationId, limit }: MeasuredRoute, status: number) => {
    const key = `${operationId} ${status}`;
    const found = seriesByLabels.get(key);
    if (found) return found;
    const counter = calls.labels(operationId, limit, String(status));
    const histogram = duration.labels(operationId, limit);
    const series = {
      count: () => counter.inc(),
      time: (seconds: number) => histogram.observe(seconds),
    };
    seriesByLabels.set(key, series);
    return series;
  };
  return {
    observe(route, status, seconds) {
      const { count, time } = findSeries(route, status);
      count();
      time(seconds);
    },
  };
};
