import { describe, expect, it } from '@jest/globals';
import { findOrReplace } from './space-saving.ts';

const most = 20;

describe('the keys that are remembered', () => {
  it('are never more than they may be, and none weighs less than it has', () => {
    const items = new Map<string, { weight: number }>();
    const met = new Map<string, number>();
    for (let n = 0; n < 5000; n++) {
      const key = n % 4 === 0 ? `often ${n % 3}` : `once ${n}`;
      const item = findOrReplace(items, most, key, (replaced) => ({
        weight: replaced?.weight ?? 0,
      }));
      item.weight += 1;
      met.set(key, (met.get(key) ?? 0) + 1);
      expect(items.size).toBeLessThanOrEqual(most);
      expect(item.weight).toBeGreaterThanOrEqual(met.get(key) ?? 0);
    }
    for (const key of ['often 0', 'often 1', 'often 2']) expect(items.has(key)).toBe(true);
  });
});
