import {
  type Context,
  context,
  isSpanContextValid,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Span, SpanOptions, Tracer } from './tracer.ts';

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/** What waits to be sent is dropped beyond that: a collector that is away costs no memory. */
const bounds = { maxQueueSize: 2048, exportTimeoutMillis: 5000 };

const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

const readParent = (traceparent: string): Context => {
  const [, traceId = '', spanId = '', flags = '0'] = form.exec(traceparent) ?? [];
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(spanContext)
    ? trace.setSpanContext(ROOT_CONTEXT, spanContext)
    : ROOT_CONTEXT;
};

const writeParent = (span: OtelSpan): string => {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
};

const isRunning = { contextManager: false };

/** Spans are sent in batches over OTLP/HTTP, in JSON. */
export const createOtelTracer = (options: {
  service: string;
  url: string;
  share: number;
}): Tracer => {
  if (!isRunning.contextManager) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    isRunning.contextManager = true;
  }
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': `backlot-${options.service}` }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.share) }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: options.url }), ...bounds }),
    ],
  });
  const tracer = provider.getTracer('backlot');

  const start = (name: string, { kind, attributes = {}, parent }: SpanOptions): Span => {
    const around =
      parent === undefined ? context.active() : parent === null ? ROOT_CONTEXT : readParent(parent);
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, around);
    const inner = trace.setSpan(around, span);
    return {
      traceparent: writeParent(span),
      run: (work) => context.with(inner, work),
      end(more, hasFailed = false) {
        if (more) span.setAttributes(more);
        if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  };

  return {
    start,
    async within(name, options, work) {
      const span = start(name, options);
      let hasFailed = true;
      try {
        const result = await span.run(() => work(span));
        hasFailed = false;
        return result;
      } finally {
        span.end(undefined, hasFailed);
      }
    },
    stop: () => provider.shutdown(),
  };
};
