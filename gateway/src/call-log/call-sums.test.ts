import { describe, expect, it } from '@jest/globals';
import { createCallSums, type SummedCall } from './call-sums.ts';

const call = (changes: Partial<SummedCall> = {}): SummedCall => ({
  projectNumber: 7,
  operation: 'listRecords',
  network: '192.0.2.0/24',
  status: 200,
  bytes: 100,
  databaseUs: 10,
  threadUs: 5,
  ...changes,
});

describe('sums of calls', () => {
  it('are told by route and by network, failing and refused calls included, and once', () => {
    const sums = createCallSums(() => 0);
    for (const status of [200, 404, 429, 402, 503]) sums.add(call({ status }));
    sums.add(call({ operation: 'getRecord', network: '2001:db8::/48' }));
    const taken = sums.take();
    expect(taken?.since).toBe('1970-01-01T00:00:00.000Z');
    expect(taken?.items).toHaveLength(4);
    const expected = { projectNumber: 7, calls: 5, errors: 4, refusals: 2, faults: 1 };
    const used = { bytes: 500, databaseUs: 50, threadUs: 25 };
    expect(taken?.items[0]).toEqual({ kind: 'route', name: 'listRecords', ...expected, ...used });
    expect(taken?.items[2]).toMatchObject({ kind: 'address', name: '192.0.2.0/24', ...expected });
    expect(sums.take()).toBeUndefined();
  });

  it('keep who is heavy in one way apart however many others come, lose no call, and stay bounded', () => {
    const sums = createCallSums(() => 0, 50);
    const heavy = ['198.51.100.0/24', '203.0.113.0/24'];
    for (let n = 0; n < 5000; n++) {
      sums.add(call({ network: `10.${n >> 8}.${n & 255}.0/24`, projectNumber: n }));
      if (n % 4 === 0) sums.add(call({ network: String(heavy[0]) }));
      if (n % 500 === 0) sums.add(call({ network: String(heavy[1]), databaseUs: 1e6 }));
    }
    const { items = [] } = sums.take() ?? {};
    for (const kind of ['route', 'address']) {
      const some = items.filter((item) => item.kind === kind);
      expect(some.length).toBeLessThanOrEqual(50);
      expect(some.reduce((all, { calls }) => all + calls, 0)).toBe(6260);
    }
    const named = new Map(items.map(({ name, ...rest }) => [name, rest]));
    expect(named.get(String(heavy[0]))?.calls).toBe(1250);
    expect(named.get(String(heavy[1]))?.databaseUs).toBe(1e7);
    expect(named.get('')?.projectNumber).toBe(0);
  });
});
