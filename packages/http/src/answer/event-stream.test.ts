import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { ApiError, defineRoute } from '@backlot/contract';
import { identityHeader } from '@backlot/identity';
import {
  anonymous,
  createFindTestRoute,
  type ServiceUnderTest,
  serveForTest,
  signed,
  testIdentityKeys,
  until,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { route } from '../route/route.ts';
import { serviceApp } from '../server/service-app.ts';
import { type ServerEvent, sendEvents } from './event-stream.ts';
import type { IdempotencyStore } from './idempotent.ts';

const streams = defineRoute({
  operationId: 'streams',
  service: 'records',
  plane: 'runtime',
  method: 'POST',
  path: '/streams/:kind',
  summary: 'Streams',
  callers: ['anonymous'],
  limit: 'write',
  params: z.object({ kind: z.string() }),
  response: z.looseObject({}),
  answers: 'json-or-events',
  status: 201,
  errors: [],
});

const ended: string[] = [];
const committed: string[] = [];

async function* writeEvents(kind: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  try {
    if (kind === 'none') throw new ApiError('upstream_failed', 'Nothing came.');
    yield { event: 'delta', data: { text: 'a\nb' } };
    if (kind === 'half') throw new Error('secret detail');
    // More than any buffer takes: without a reader it waits.
    while (kind === 'endless') yield { event: 'delta', data: 'x'.repeat(100_000) };
    if (kind === 'silent')
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield { event: 'done', data: {} };
  } finally {
    ended.push(kind);
  }
}
const logged: object[] = [];

describe('a stream of events', () => {
  let service: ServiceUnderTest;
  beforeAll(async () => {
    service = await serveForTest(
      serviceApp({
        routes: [
          route(streams, async ({ params, signal }) =>
            params.kind === 'json'
              ? { body: {}, commit: async () => void committed.push('json') }
              : { events: writeEvents(params.kind, signal) },
          ),
        ],
        gatewayKeys: testIdentityKeys('gateway'),
        now: Date.now,
        idempotency: {} as IdempotencyStore,
        checkResponses: true,
        log: { error: (fields) => void logged.push(fields) },
        ready: async () => ({ isServing: true, dependencies: [] }),
      }),
      Date.now,
      createFindTestRoute([streams]),
    );
  });
  afterAll(() => service.stop());
  const post = (path: string) => service.call('POST', path, { identity: anonymous() });

  it('is sent event by event, and says that what they used follows', async () => {
    const { status, headers, body } = await post('/streams/x');
    expect([status, headers.get('content-type'), headers.get('x-backlot-usage')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      'follows',
    ]);
    expect(body).toBe('event: delta\ndata: {"text":"a\\nb"}\n\nevent: done\ndata: {}\n\n');
  });

  it('ends in an error event where it fails; before its first event that is a failure', async () => {
    expect(await post('/streams/none')).toMatchObject({
      status: 502,
      body: { code: 'upstream_failed' },
    });
    const before = logged.length;
    const { body } = await post('/streams/half');
    expect(body).toMatch(/event: error\ndata: \{.*"code":"internal".*\}\n\n$/);
    expect(body).not.toContain('secret');
    expect(logged).toHaveLength(before + 1);
  });

  it.each(['endless', 'silent'])('ends (%s) where its reader has gone', async (kind) => {
    const gone = new AbortController();
    const response = await fetch(`${service.url}/streams/${kind}`, {
      method: 'POST',
      headers: { [identityHeader]: signed(anonymous(), streams) },
      signal: gone.signal,
    });
    await response.body?.getReader().read();
    gone.abort();
    await until(() => ended.includes(kind));
  });

  it('is cut off, with what waits for it, where its reader stays and takes nothing', async () => {
    let isEnded = false;
    async function* endless() {
      try {
        for (;;) yield `data: ${'x'.repeat(1_000_000)}\n\n`;
      } finally {
        isEnded = true;
      }
    }
    const call = { signal: new AbortController().signal, header: () => undefined };
    const server = createServer((_req, res) => {
      void sendEvents(res, { events: endless() }, call, { error: () => {} }, 'events', 200);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const reader = connect((server.address() as AddressInfo).port, '127.0.0.1');
    reader.on('error', () => {});
    reader.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => isEnded);
    reader.destroy();
    // Waits for its connections.
    await new Promise((resolve) => server.close(resolve));
  });

  it('is none where the answer is JSON, which is sent once its writes are committed', async () => {
    expect(await post('/streams/json')).toMatchObject({ status: 201 });
    expect(committed).toEqual(['json']);
  });
});
