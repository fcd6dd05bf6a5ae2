import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { costBounds, costMillicredits } from '../../prices/prices.ts';
import { promptTokensAtMost } from './ai-price.ts';
import { generateText } from './generate-text.ts';

const worstCase = (body: unknown) =>
  costBounds(
    generateText.price,
    { body, contentLength: undefined, header: () => undefined, settings: {} },
    1000,
  ).maxMillicredits;
const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });

describe('the price of a generation', () => {
  it('is a credit for 1,000 tokens, at least one', () => {
    const cost = (tokens: number) => costMillicredits(generateText.price, tokens, 1000);
    expect([0, 1, 999, 1000].map(cost)).toEqual([0, 1000, 1000, 1000]);
    expect([1000.2, 1001, 250_000].map(cost)).toEqual([1001, 1001, 250_000]);
  });

  it('is exactly one credit at most for a short prompt with maxTokens 200', () => {
    expect(worstCase({ ...user('Tell me something about whales.'), maxTokens: 200 })).toBe(1000);
    expect(
      worstCase({ ...user([{ type: 'text', text: 'Hi' }]), system: 'Brief.', maxTokens: 200 }),
    ).toBe(1000);
  });

  it('counts the whole cap of 4,096 where no lower one is given', () => {
    for (const maxTokens of [undefined, 0, -5, 1.5, 5000, '7', null]) {
      expect(worstCase({ ...user(''), maxTokens })).toBe(4096 + promptTokensAtMost(user('')));
    }
  });

  it('counts every byte of the prompt, its parts, the system text and the schema', () => {
    const base = promptTokensAtMost(user(''));
    expect(promptTokensAtMost(user('é🌍'))).toBe(base + 6);
    expect(
      promptTokensAtMost(
        user([
          { type: 'text', text: 'ab' },
          { type: 'text', text: 'c' },
        ]),
      ),
    ).toBe(base + 3);
    expect(promptTokensAtMost({ ...user(''), system: 'abc' })).toBe(base + 8 + 3);
    expect(promptTokensAtMost({ ...user(''), json: { type: 'null' } })).toBe(base + 15);
  });

  it('counts a prompt of the owner as if it had all the bytes that it may have', () => {
    expect(worstCase({ ...user('Hi'), prompt: 'tutor' })).toBe(worstCase(user('Hi')) + 8 + 8192);
    expect(worstCase({ ...user('Hi'), prompt: 7 })).toBe(worstCase(user('Hi')) + 8 + 8192);
  });

  it('is a whole number of at least a credit, whatever is sent', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.anything(),
          fc.record(
            {
              messages: fc.anything(),
              system: fc.anything(),
              json: fc.jsonValue(),
              maxTokens: fc.anything(),
              prompt: fc.anything(),
            },
            { requiredKeys: [] },
          ),
        ),
        (body) => {
          const price = worstCase(body);
          expect(Number.isSafeInteger(price) && price >= 1000).toBe(true);
        },
      ),
    );
    let deep: unknown = 1;
    for (let level = 0; level < 200_000; level++) deep = { a: deep };
    expect(worstCase({ ...user('x'), json: deep })).toBeGreaterThan(1000);
  });
});
