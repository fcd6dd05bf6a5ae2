import { describe, expect, it } from '@jest/globals';
import { email, normalizeEmail } from './email-address.ts';

describe('an e-mail address', () => {
  it.each([
    ['z@xn--bcher-kva.example', 'z@xn--bcher-kva.example'],
    ['z@bücher.example', 'z@xn--bcher-kva.example'],
    [' Z@BÜCHER.Example ', 'z@xn--bcher-kva.example'],
    ['z@bu\u0308cher.example', 'z@xn--bcher-kva.example'],
    ['z@XN--BCHER-KVA.example', 'z@xn--bcher-kva.example'],
    ['a@ｅｘａｍｐｌｅ．ｏｒｇ', 'a@example.org'],
    ['a@example。org', 'a@example.org'],
    ['a@пример.рф', 'a@xn--e1afmkfd.xn--p1ai'],
    ["o'neil+list@mail.example.org", "o'neil+list@mail.example.org"],
  ])('%j is %j, whatever its spelling', (spelling, expected) => {
    expect(normalizeEmail(spelling)).toBe(expected);
    expect(email.parse(spelling)).toBe(expected);
    expect(normalizeEmail(expected)).toBe(expected);
  });

  it.each([
    '',
    'x',
    '@',
    'a@',
    '@example.org',
    'a@example',
    'a b@example.org',
    'a@exa mple.org',
    'a@1.2',
    'a@0x7f.1',
    'a@127.0.0.1',
    'a@[::1]',
    'a@example.org/x',
    'a@b@%65xample.org',
    'a@example.org:80',
    'a@example.org?x',
    'a@example.org#x',
    'a@xn--a\0.example',
    'ü@example.org',
    'mi\u212ae@example.org',
    'a@example.org.',
    'a@xn--',
    `${'a'.repeat(250)}@example.org`,
    `a@${'ü'.repeat(300)}.example`,
  ])('%j is none', (text) => {
    expect(email.safeParse(text).success).toBe(false);
    expect(normalizeEmail(normalizeEmail(text))).toBe(normalizeEmail(text));
  });

  it('with NUL is one that nobody has', () => {
    expect(normalizeEmail('a\0@example.org')).toBe('');
  });
});
