import { describe, expect, it } from '@jest/globals';
import { idTimeMs, lowestIdAt, parseTimestamp } from './timestamps.ts';

describe('timestamps', () => {
  it.each([
    ['2026', '2026-01-01T00:00:00.000Z'],
    ['2026-11', '2026-11-01T00:00:00.000Z'],
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21T09:30', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:01', '2026-11-21T09:30:01.000Z'],
    ['2026-11-21T09:30:01.5Z', '2026-11-21T09:30:01.500Z'],
    ['2026-11-21T09:30:01.123Z', '2026-11-21T09:30:01.123Z'],
    ['2026-11-21T09:30:01+02:00', '2026-11-21T07:30:01.000Z'],
    ['2026-11-21T00:30:00-0130', '2026-11-21T02:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0000-01-01', '0000-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, expected) => {
    expect(new Date(parseTimestamp(text) ?? Number.NaN).toISOString()).toBe(expected);
  });

  it('keeps microseconds', () => {
    expect(parseTimestamp('1970-01-01T00:00:01.123456Z')).toBe(1123.456);
  });

  it.each([
    '',
    'now',
    '2026-13-01',
    '2026-02-29',
    '2026-11-31',
    '2026-11-21T24:00Z',
    '2026-11-21T23:60Z',
    '2026-11-21T23:59:60Z',
    '2026-11-21T09:30+24:00',
    '2026-11-21 09:30',
    '21.11.2026',
    '1700000000000',
    '+020260-01-01',
  ])('%s is not a timestamp', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  it('finds the lowest id of a millisecond', () => {
    expect(lowestIdAt(0x0123456789ab)).toBe('01234567-89ab-0000-0000-000000000000');
    expect(idTimeMs(lowestIdAt(1_795_226_400_123))).toBe(1_795_226_400_123);
    expect(lowestIdAt(-5)).toBe('00000000-0000-0000-0000-000000000000');
    expect(lowestIdAt(2 ** 60)).toBe('ffffffff-ffff-0000-0000-000000000000');
  });
});
