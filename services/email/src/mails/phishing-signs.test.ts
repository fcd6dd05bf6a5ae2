import { describe, expect, it } from '@jest/globals';
import { findPhishingSigns } from './phishing-signs.ts';

const find = (html: string, subject = 'Hello') => findPhishingSigns({ subject, html });

describe('signs of phishing', () => {
  it.each([
    ['Your PayPal account has been limited.', ['brand', 'pressure']],
    ['<b>Verify</b> your account within 24 hours', ['credentials', 'pressure']],
    ['Bestätigen Sie Ihre Daten innerhalb von 24 Stunden.', ['credentials', 'pressure']],
    ['You have won! Confirm your bank details.', ['credentials', 'prize']],
    [
      'Enter your seed phrase: <a href="http://203.0.113.7/x">here</a>',
      ['credentials', 'strangeLink'],
    ],
    ['P\u0430yPal', ['mixedScripts']],
    [
      'DHL: <a class="b" href="https://evil.example/x">https://www.dhl.com/</a>',
      ['brand', 'otherLink'],
    ],
    ['Last warning: <a href="https://evil.example">bank.example</a>', ['pressure', 'otherLink']],
  ])('are in %s', (html, expected) => {
    expect(find(html)).toEqual(expected);
  });

  it.each([
    'Please verify your account: <a href="https://shop.example/verify">Verify</a>',
    'Your parcel was handed over to DHL.',
    'Read more at <a href="https://www.shop.example/news">shop.example</a>',
    '<a href="https://news.shop.example/1">shop.example</a> and <a href="https://shop.example">our page</a>',
    'Привет, John. Καλημέρα.',
    'Read more at <a href="https://clicks.example/1">shop.example</a>',
    'You get a gift card with your next order.',
  ])('are not in %s', (html) => {
    expect(find(html)).toEqual([]);
  });

  it('take no time that grows with more than the length, whatever the mail is', () => {
    const hostile = [
      '<a href='.repeat(60_000),
      '<'.repeat(500_000),
      `<a href="https://${'a'.repeat(100_000)}`,
      ' '.repeat(500_000),
      'http://'.repeat(70_000),
      `<a ${'href '.repeat(100_000)}`,
      `<a href${' '.repeat(100_000)}>`,
      `<a x>${'a.'.repeat(100_000)}`,
      `https://${'xn-'.repeat(100_000)}`,
    ];
    for (const html of hostile) {
      const startedAt = performance.now();
      find(html);
      expect(performance.now() - startedAt).toBeLessThan(1000);
    }
  });
});
