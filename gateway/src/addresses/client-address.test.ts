import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { createClientAddress, normalizeAddress } from './client-address.ts';

const from = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('the address of a client', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['10', null],
    ['0x7f000001', null],
    ['192.0.2.999', null],
    ['unknown', null],
    ['', null],
  ])('%s is known as %s', (text, expected) => {
    expect(normalizeAddress(text)).toBe(expected);
  });

  it("is the socket's without a trusted proxy", () => {
    expect(createClientAddress(0)(from('192.0.2.1', '198.51.100.1'))).toBe('192.0.2.1');
  });

  it('is counted from the right, so that a caller can not write it', () => {
    const forwarded = '6.6.6.6, 198.51.100.1 ,203.0.113.5';
    expect(createClientAddress(1)(from('10.0.0.1', forwarded))).toBe('203.0.113.5');
    expect(createClientAddress(2)(from('10.0.0.1', forwarded))).toBe('198.51.100.1');
    expect(createClientAddress(4)(from('10.0.0.1', forwarded))).toBe('10.0.0.1');
  });

  it.each(['', ',', 'garbage', 'a, b', '1.2.3.4:80'])(
    'is the socket’s for the header "%s"',
    (forwarded) => {
      expect(createClientAddress(1)(from('10.0.0.1', forwarded))).toBe('10.0.0.1');
    },
  );
});
