import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { landingUrl } from './return-url.ts';

describe('landingUrl', () => {
  it.each([
    ['https://a.example', 'https://a.example/?session_id=S'],
    ['https://a.example/x', 'https://a.example/x?session_id=S'],
    ['https://a.example/x?', 'https://a.example/x?session_id=S'],
    ['https://a.example/x?b=1&', 'https://a.example/x?b=1&session_id=S'],
    ['https://a.example/x?b=1#/route?c=2', 'https://a.example/x?b=1&session_id=S#/route?c=2'],
    ['https://a.example/x??', 'https://a.example/x??&session_id=S'],
    [
      'https://a.example/x?session_id=old&canceled=1&b=1&x_session_id=2',
      'https://a.example/x?b=1&x_session_id=2&session_id=S',
    ],
    ['https://a.example/x#', 'https://a.example/x?session_id=S'],
  ])('adds the session to %s', (returnUrl, landing) => {
    expect(landingUrl(returnUrl, 'S', 'done')).toBe(landing);
  });

  it('says when the payer cancelled, and leaves braces as they are', () => {
    expect(landingUrl('https://a.example/#x', '{CHECKOUT_SESSION_ID}', 'canceled')).toBe(
      'https://a.example/?session_id={CHECKOUT_SESSION_ID}&canceled=1#x',
    );
  });

  it('keeps origin, path, hash and every parameter of any address', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (returnUrl) => {
        const before = new URL(returnUrl);
        const after = new URL(landingUrl(returnUrl, 'cs_test_1', 'done'));
        expect([after.origin, after.pathname, after.hash]).toEqual([
          before.origin,
          before.pathname,
          before.hash,
        ]);
        const own = [...after.searchParams].slice(0, -1).filter(([name]) => name !== '');
        expect(own).toEqual([...before.searchParams].filter(([name]) => name !== ''));
        expect([...after.searchParams].at(-1)).toEqual(['session_id', 'cs_test_1']);
      }),
      { numRuns: 1000 },
    );
  });
});
