import { until } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Completion,
  type CompletionRequest,
  ModelProviderFailed,
} from '../model-provider/model-provider.ts';
import { fakeProvider, parseEvents, silence, streamingProvider } from '../testing/fake-provider.ts';
import { createTestBed, reserved, type TestBed } from '../testing/test-bed.ts';

const hello = { messages: [{ role: 'user', content: 'Hello there' }], stream: true };
const json = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
const completion = (text: string, changes: Partial<Completion> = {}): Completion => ({
  text,
  promptTokens: 1000,
  outputTokens: 20,
  isCut: false,
  ...changes,
});
/** Two pieces, 1,001 tokens by estimate together with the prompt. */
const prompt = { ...hello, messages: [{ role: 'user', content: 'x'.repeat(3996) }] };
const twoPieces = ['abc', 'd'];

describe('a streamed answer', () => {
  let bed: TestBed;
  /** Waits for a model no longer than this. */
  let hurried: TestBed;
  beforeAll(async () => {
    [bed, hurried] = await Promise.all([createTestBed(), createTestBed({ answerTimeoutMs: 200 })]);
  });
  afterAll(() => Promise.all([bed.close(), hurried.close()]));
  afterEach(async () => {
    for (const { takeUsage } of [bed, hurried]) expect(await takeUsage()).toEqual([]);
  });

  const stream = async (body: unknown, identity = reserved(10_000), at = bed) => {
    const { status, headers, body: text } = await at.ask(body, { identity });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(headers.get('x-backlot-usage')).toBe('follows');
    return parseEvents(text);
  };

  it('comes in deltas and ends with the whole text, without a data key', async () => {
    const events = await stream(hello);
    const done = events.pop();
    expect(done).toEqual({ event: 'done', data: { text: expect.stringContaining('demo') } });
    expect(events.length).toBeGreaterThan(5);
    expect(events.map(({ data }) => data.text).join('')).toBe(done?.data.text);
    expect(await bed.takeUsage()).toMatchObject([{ millicredits: 1000 }]);
  });

  it('is free where nothing was reserved', async () => {
    expect((await stream(hello, reserved(null))).at(-1)?.event).toBe('done');
  });

  it('ends with the value in the form of json', async () => {
    expect((await stream({ ...hello, json })).at(-1)).toEqual({
      event: 'done',
      data: { text: expect.any(String), data: { n: expect.any(Number) } },
    });
    expect(await bed.takeUsage()).toHaveLength(1);
  });

  it('is repaired at its end, which is not charged', async () => {
    const asked: CompletionRequest[] = [];
    bed.useProvider({
      ...fakeProvider(async (request) => {
        asked.push(request);
        return completion('{"n":1}', { promptTokens: 5000, outputTokens: 30 });
      }),
      async *stream() {
        yield '{"n":';
        yield completion('{"n":');
      },
    });
    expect(await stream({ ...hello, json })).toEqual([
      { event: 'delta', data: { text: '{"n":' } },
      { event: 'done', data: { text: '{"n":1}', data: { n: 1 } } },
    ]);
    expect(asked).toHaveLength(1);
    expect(await bed.takeUsage()).toMatchObject([{ millicredits: 1030 }]);
  });

  it.each([
    ['invalid JSON twice', { ...prompt, json }, 'upstream_failed', 0],
    ['a provider that fails', prompt, 'upstream_failed', 0],
    ['a model that stops speaking', prompt, 'timeout', 0],
    ['an answer too long for maxTokens', { ...prompt, json, maxTokens: 1 }, 'invalid_body', 1018],
  ])('ends with an error after %s', async (what, body, code, millicredits) => {
    const at = code === 'timeout' ? hurried : bed;
    at.useProvider({
      ...fakeProvider(async () => completion('abcd')),
      async *stream({ signal }) {
        yield* twoPieces;
        if (what === 'a provider that fails') throw new ModelProviderFailed('secret host');
        if (what === 'a model that stops speaking') await silence(signal);
        yield completion('abcd', { isCut: what.startsWith('an answer too long') });
      },
    });
    const events = await stream(body, reserved(10_000), at);
    expect(events.slice(0, 2).map(({ data }) => data.text)).toEqual(twoPieces);
    expect(events.slice(2)).toEqual([
      { event: 'error', data: expect.objectContaining({ code, requestId: expect.any(String) }) },
    ]);
    expect(JSON.stringify(events)).not.toContain('secret');
    expect(await at.takeUsage()).toMatchObject([{ millicredits }]);
  });

  it.each([
    ['502', (_signal: AbortSignal) => Promise.reject(new ModelProviderFailed('secret'))],
    ['504', silence],
  ])('is an ordinary %s where the model fails before its first word', async (status, fail) => {
    const at = status === '504' ? hurried : bed;
    at.useProvider(
      streamingProvider(async function* ({ signal }) {
        yield await fail(signal);
      }),
    );
    const answer = await at.ask(hello);
    expect(answer.status).toBe(Number(status));
    expect(JSON.stringify(answer.body)).not.toContain('secret');
  });

  it('takes no Idempotency-Key', async () => {
    const answer = await bed.ask(hello, { headers: { 'idempotency-key': 'k' } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_header' } });
  });

  it('reads the model no faster than its reader reads', async () => {
    let pieces = 0;
    let ended = false;
    bed.useProvider(
      streamingProvider(async function* () {
        try {
          for (;;) {
            pieces++;
            yield 'x'.repeat(100_000);
          }
        } finally {
          ended = true;
        }
      }),
    );
    const gone = new AbortController();
    await bed.open(hello, { signal: gone.signal });
    const isHeld = async () => {
      const before = pieces;
      await bed.database.query('SELECT pg_sleep(0.1)');
      return pieces === before && pieces > 0;
    };
    await until(isHeld);
    expect(pieces).toBeLessThan(500);
    gone.abort();
    await until(() => ended);
    await until(async () => (await bed.takeUsage()).length === 1);
  });
});

describe('a caller who goes', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  afterEach(() => expect(bed.errors.splice(0)).toEqual([]));

  /** The one event that a call has left behind. */
  const onlyUsage = async () => {
    const usage = await until(async () => {
      const taken = await bed.takeUsage();
      return taken.length > 0 && taken;
    });
    expect(usage).toHaveLength(1);
    return usage[0];
  };

  it('ends a stream at the model, and pays for the prompt and what was sent', async () => {
    let ended: AbortSignal | undefined;
    bed.useProvider(
      streamingProvider(async function* ({ signal }) {
        yield 'y'.repeat(400);
        ended = signal;
        await silence(signal);
      }),
    );
    const gone = new AbortController();
    const response = await bed.open(prompt, { signal: gone.signal });
    expect(response.status).toBe(200);
    await until(() => ended);
    gone.abort();
    expect(await onlyUsage()).toMatchObject({ millicredits: 1099, units: { tokens: 1099 } });
    expect(ended?.aborted).toBe(true);
  });

  it.each([
    ['a stream', { ...prompt, stream: true }],
    ['a whole answer', { ...prompt, stream: false }],
  ])('before the first word of %s pays for the prompt', async (_what, body) => {
    let asked = false;
    bed.useProvider(
      fakeProvider(({ signal }) => {
        asked = true;
        return silence(signal);
      }),
    );
    const gone = new AbortController();
    const answer = bed.open(body, { signal: gone.signal });
    await until(() => asked);
    gone.abort();
    await expect(answer).rejects.toThrow();
    expect(await onlyUsage()).toMatchObject({ millicredits: 1000, units: { tokens: 999 } });
  });

  it('leaves no answer under an Idempotency-Key, so that the call can be made again', async () => {
    let calls = 0;
    bed.useProvider(
      fakeProvider(({ signal }) =>
        ++calls === 1 ? silence(signal) : Promise.resolve(completion('fine')),
      ),
    );
    const headers = { 'idempotency-key': 'gone' };
    const body = { ...hello, stream: false };
    const gone = new AbortController();
    const answer = bed.open(body, { headers, signal: gone.signal });
    await until(() => calls === 1);
    gone.abort();
    await expect(answer).rejects.toThrow();
    expect(await onlyUsage()).toMatchObject({ units: { tokens: 3 } });
    const again = await until(async () => {
      const { status, body: answered } = await bed.ask(body, { headers });
      return status === 200 && answered;
    });
    expect(again).toEqual({ text: 'fine' });
    expect(await onlyUsage()).toMatchObject({ millicredits: 1020 });
  });

  it('pays nothing for a failure', async () => {
    let calls = 0;
    bed.useProvider(
      fakeProvider(async () => {
        calls++;
        throw new ModelProviderFailed('down');
      }),
    );
    expect(await bed.ask({ ...hello, stream: false })).toMatchObject({ status: 502 });
    expect(calls).toBe(1);
    expect(bed.errors.splice(0)).toHaveLength(1);
    expect(await bed.takeUsage()).toEqual([]);
  });
});
