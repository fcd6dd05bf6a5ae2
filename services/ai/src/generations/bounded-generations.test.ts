import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fakeProvider, silence } from '../testing/fake-provider.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

const hello = { messages: [{ role: 'user', content: 'Hello' }] };

describe('more calls than fit', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ maxCalls: 2 });
  });
  afterAll(() => bed.close());

  it('answer 503 until one has ended, whole answers and streams alike', async () => {
    let asked = 0;
    bed.useProvider(
      fakeProvider(({ signal }) => {
        asked++;
        return silence(signal);
      }),
    );
    const callers = [new AbortController(), new AbortController()];
    const open = callers.map(({ signal }, index) =>
      bed.open({ ...hello, stream: index === 0 }, { signal }).catch(() => 'gone'),
    );
    await until(() => asked === 2);
    for (const stream of [false, true]) {
      const answer = await bed.ask({ ...hello, stream });
      expect(answer).toMatchObject({ status: 503, body: { code: 'overloaded' } });
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    for (const caller of callers) caller.abort();
    expect(await Promise.all(open)).toEqual(['gone', 'gone']);
    bed.useProvider(
      fakeProvider(async () => ({ text: 'x', promptTokens: 1, outputTokens: 1, isCut: false })),
    );
    for (const stream of [false, true]) {
      await until(async () => (await bed.ask({ ...hello, stream })).status === 200);
    }
  });
});

describe('a service that stops', () => {
  it('has stored what the calls have used that it cut off', async () => {
    const bed = await createTestBed();
    let asked = 0;
    bed.useProvider(
      fakeProvider(({ signal }) => {
        asked++;
        return silence(signal);
      }),
    );
    const open = [false, true].map((stream) =>
      bed.open({ ...hello, stream }).catch(() => 'cut off'),
    );
    await until(() => asked === 2);
    await bed.http.stop();
    await bed.service.stop();
    expect(await bed.takeUsage()).toHaveLength(2);
    expect(await Promise.all(open)).toEqual(['cut off', 'cut off']);
    await bed.close();
  });
});
