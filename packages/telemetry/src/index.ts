/** Logs and metrics, and the list of what a log line never holds. Knows no route and no service. */
export * from './logger.ts';
export * from './metrics.ts';
export * from './metrics-listener.ts';
export * from './origin.ts';
export * from './queue-metrics.ts';
export * from './repeats.ts';
export * from './tracer.ts';
export * from './tracing.ts';
