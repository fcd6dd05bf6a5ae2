import type { Tracer } from './tracer.ts';

export interface TracingOptions {
  service: string;
  /** Where OTLP over HTTP is taken, for example `http://collector:4318/v1/traces`. Undefined: no traces. */
  url: string | undefined;
  /** Of the calls, between 0 and 1. */
  share: number;
}

/** Loads OpenTelemetry only where it is asked for: it takes memory and time at the start. */
export const openTracing = async ({
  url,
  ...options
}: TracingOptions): Promise<Tracer | undefined> => {
  if (url === undefined) return undefined;
  const { createOtelTracer } = await import('./otel.ts');
  return createOtelTracer({ ...options, url });
};
