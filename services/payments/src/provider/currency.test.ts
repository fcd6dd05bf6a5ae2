import { describe, expect, it } from '@jest/globals';
import { currencies, formatMoney } from './currency.ts';

describe('currencies', () => {
  it('are those of ISO 4217 that Stripe takes', () => {
    expect(currencies.size).toBeGreaterThan(130);
    for (const code of ['usd', 'eur', 'jpy', 'kwd', 'isk', 'huf'])
      expect(currencies).toContain(code);
    for (const code of ['xau', 'xdr', 'abc', 'USD', 'chw']) expect(currencies).not.toContain(code);
  });

  it.each([
    [1, 'usd', '$0.01'],
    [99_999_999, 'usd', '$999,999.99'],
    [500, 'jpy', '¥500'],
    [1230, 'kwd', 'KWD 1.230'],
    [12_300, 'huf', 'HUF 123.00'],
    [500, 'vnd', '₫500'],
  ])('write %i of %s as %s', (amount, currency, text) => {
    expect(formatMoney(amount, currency).replaceAll('\u00a0', ' ')).toBe(text);
  });
});
