/** Few, and of few values: never a body, a secret, an address or what somebody wrote. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer';

export interface SpanOptions {
  kind: SpanKind;
  attributes?: SpanAttributes;
  /** A traceparent of one of our own processes, or none for a trace of its own; without it what is around. */
  parent?: string | null | undefined;
}

export interface Span {
  /** By which another process goes on with the trace. */
  traceparent: string;
  /** Spans that begin in `work` belong to this one. */
  run<T>(work: () => T): T;
  end(attributes?: SpanAttributes, hasFailed?: boolean): void;
}

/** What of OpenTelemetry is used. There is none where calls are not traced, which then costs nothing. */
export interface Tracer {
  start(name: string, options: SpanOptions): Span;
  within<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  /** Sends what is left. */
  stop(): Promise<void>;
}
