import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface CollectedSpan {
  /** The process. */
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  attributes: { key: string; value: object }[];
}

export interface TraceCollector {
  url: string;
  spans(): CollectedSpan[];
  stop(): Promise<void>;
}

interface Export {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: Omit<CollectedSpan, 'service'>[] }[];
  }[];
}

const read = (body: string): CollectedSpan[] =>
  (JSON.parse(body) as Export).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const name = resource.attributes.find(({ key }) => key === 'service.name');
    const service = name?.value.stringValue ?? '';
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId, attributes }) => {
        return { service, name, traceId, spanId, parentSpanId, attributes };
      }),
    );
  });

/** Takes spans over OTLP/HTTP in JSON, as any collector does. */
export const startTraceCollector = async (): Promise<TraceCollector> => {
  const collected: CollectedSpan[] = [];
  const server = createServer(async (req, res) => {
    collected.push(...read(await text(req)));
    // Of hours of tests the last ones do.
    collected.splice(0, Math.max(0, collected.length - 100_000));
    res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    spans: () => collected,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
