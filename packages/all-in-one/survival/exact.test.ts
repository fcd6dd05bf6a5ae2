import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, tally } from './ai-calls.ts';
import { readBooks, sumOf } from './ledger.ts';
import { type StackUnderTest, startStackUnderTest } from './stack-under-test.ts';

describe('two gateways over one Redis', () => {
  let stack: StackUnderTest;
  beforeAll(async () => {
    stack = await startStackUnderTest();
  }, 120_000);
  afterAll(() => stack?.stop());

  it('let exactly 100 of 400 parallel calls through that 100 credits pay for', async () => {
    const shop = await stack.newShop(100);
    const outcomes = await Promise.all(
      Array.from({ length: 400 }, (_, n) => ask(stack.gateways[n % 2] ?? '', shop.id, 'Hello')),
    );
    expect(tally(outcomes)).toEqual({ served: 100, '402 out_of_credits': 300 });
    const books = await until(
      async () => {
        const read = await readBooks(stack, shop.owner);
        return read.debits.length === 100 && read.reservedMillicredits === 0 && read;
      },
      { timeoutMs: 20_000 },
    );
    expect(books.balanceMillicredits).toBe(0);
    expect(books.lines).toHaveLength(101);
    expect(sumOf(books.debits)).toBe(-100_000);
    expect(new Set(books.debits.map(({ requestId }) => requestId)).size).toBe(100);
  }, 60_000);
});
