import { createWindowCounts } from '@backlot/service';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { askedBounces, createAskedMails, hashAddress } from './asked-mails.ts';

describe('mails that people ask for to an own address', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('are bounded for each network address, and closer once many come back in the whole installation', async () => {
    const asked = createAskedMails(createWindowCounts(bed.database, bed.clock.now));
    const from = (n: number) => hashAddress(`192.0.2.${n}`);
    const bounces = (address: string, count: number) =>
      Promise.all(Array.from({ length: count }, () => asked.countBounce(address)));
    expect(await asked.mayAsk(undefined)).toBe(true);
    await bounces(from(1), askedBounces.address - 1);
    expect(await asked.mayAsk(from(1))).toBe(true);
    await bounces(from(1), 1);
    expect(await asked.mayAsk(from(1))).toBe(false);

    await bounces(from(2), 1);
    expect(await asked.mayAsk(from(2))).toBe(true);
    const left = askedBounces.installation - askedBounces.address - 1;
    for (let n = 0; n < left; n += 20) await bounces(from(3), Math.min(20, left - n));
    expect(await Promise.all([1, 2, 3, 4].map((n) => asked.mayAsk(from(n))))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });
});
