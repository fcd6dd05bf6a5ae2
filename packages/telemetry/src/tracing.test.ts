import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { createLogger, currentOrigin, openTracing, withOrigin } from './index.ts';

it('without an address there is no tracer, and nothing of its SDK is loaded', () => {
  const index = fileURLToPath(new URL('./index.ts', import.meta.url));
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ resolve: (name, context, next) => (loaded.push(name), next(name, context)) });
    const { openTracing } = await import(${JSON.stringify(index)});
    const tracer = await openTracing({ service: 'a', url: undefined, share: 1 });
    console.log(JSON.stringify([tracer ?? null, loaded.filter((name) => /opentelemetry.(?!api)/.test(name))]));
  `;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
  expect(JSON.parse(stdout.toString())).toEqual([null, []]);
});

it('sends spans that belong together, over OTLP, and goes on with a trace of another process', async () => {
  const bodies: string[] = [];
  const server = createServer(async (req, res) => {
    bodies.push(await text(req));
    res.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1/traces`;
  const tracer = await openTracing({ service: 'a', url, share: 1 });
  if (!tracer) throw new Error('There is no tracer.');
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const parent = `00-${traceId}-b7ad6b7169203331-01`;
  const outer = tracer.start('outer', { kind: 'server', parent });
  await outer.run(() => tracer.within('inner', { kind: 'client' }, async () => {}));
  await expect(
    tracer.within('failing', { kind: 'client', parent }, () => Promise.reject(new Error('no'))),
  ).rejects.toThrow('no');
  outer.end({ 'backlot.operation': 'listRecords' });
  tracer.start('of its own', { kind: 'server', parent: 'nonsense' }).end();
  await tracer.stop();
  server.close();
  const spans = bodies.flatMap((body) =>
    JSON.parse(body).resourceSpans.flatMap(
      ({ scopeSpans }: { scopeSpans: { spans: object[] }[] }) =>
        scopeSpans.flatMap((scope) => scope.spans),
    ),
  );
  const find = (name: string) => spans.find((span) => span.name === name);
  expect(find('outer')).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331' });
  expect(find('inner')).toMatchObject({ traceId, parentSpanId: find('outer').spanId });
  expect(find('failing').status).toEqual({ code: 2 });
  expect(find('of its own').traceId).not.toBe(traceId);
});

it('a line that is written for a call names it', async () => {
  const lines: string[] = [];
  const log = createLogger({
    service: 'a',
    destination: { write: (line) => void lines.push(line) },
  });
  await withOrigin({ requestId: 'r1' }, async () => {
    await Promise.resolve();
    log.info('within');
  });
  log.info('outside');
  expect(lines.map((line) => JSON.parse(line).requestId)).toEqual(['r1', undefined]);
  expect(currentOrigin()).toBeUndefined();
});
