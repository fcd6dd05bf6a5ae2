import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createSealer, masterKeysSetting, SealBroken } from './index.ts';

const [older, newer] = [randomBytes(32), randomBytes(32)];

describe('a sealer', () => {
  it('opens what it sealed, in its own context only', () => {
    const sealer = createSealer([newer]);
    const sealed = sealer.seal('sk_test_geheim ü', '1001/stripe');
    expect(sealed.toString('latin1')).not.toContain('geheim');
    expect(sealer.open(sealed, '1001/stripe')).toBe('sk_test_geheim ü');
    expect(() => sealer.open(sealed, '1002/stripe')).toThrow(SealBroken);
    expect(sealer.seal('x', '').equals(sealer.seal('x', ''))).toBe(false);
    expect(sealer.open(sealer.seal('', 'c'), 'c')).toBe('');
  });

  it('opens nothing that was changed or cut', () => {
    const sealer = createSealer([newer]);
    const sealed = sealer.seal('secret', 'c');
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(() => sealer.open(changed, 'c')).toThrow(SealBroken);
      expect(() => sealer.open(sealed.subarray(0, at), 'c')).toThrow(SealBroken);
    }
  });

  it('seals under the first key and opens under all, so that keys can be changed', () => {
    const before = createSealer([older]).seal('secret', 'c');
    const rotated = createSealer([newer, older]);
    expect(rotated.open(before, 'c')).toBe('secret');
    expect(rotated.isCurrent(before)).toBe(false);
    const after = rotated.seal('secret', 'c');
    expect(rotated.isCurrent(after)).toBe(true);
    expect(createSealer([newer]).open(after, 'c')).toBe('secret');
    expect(() => createSealer([newer]).open(before, 'c')).toThrow(SealBroken);
  });
});

describe('masterKeysSetting', () => {
  it('reads one key or several', () => {
    const text = [newer, older].map((key) => key.toString('base64')).join(', ');
    expect(masterKeysSetting.parse(text)).toEqual([newer, older]);
  });

  it.each(['', 'short', randomBytes(31).toString('base64'), `${newer.toString('base64')},`])(
    'refuses %j',
    (text) => expect(masterKeysSetting.safeParse(text).success).toBe(false),
  );
});
