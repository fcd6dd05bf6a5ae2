import { expect, it } from '@jest/globals';
import { newId } from './index.ts';

it('new ids are UUIDv7s of the present, all different and in the order in which they were made', () => {
  const before = Date.now();
  const ids = Array.from({ length: 5000 }, newId);
  const after = Date.now();
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const time = Number.parseInt(id.slice(0, 13).replace('-', ''), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    // 1,024 a millisecond, or a little ahead of the clock.
    expect(time).toBeLessThanOrEqual(after + 5);
  }
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
});
