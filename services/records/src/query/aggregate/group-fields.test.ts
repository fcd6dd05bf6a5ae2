import { describe, expect, it } from '@jest/globals';
import { parseGroupFields, parseTimeZone } from './group-fields.ts';

const byDay = parseGroupFields('createdAt:day');

describe('time zones', () => {
  it.each(['Europe/Berlin', 'America/Argentina/Buenos_Aires', 'UTC', 'Etc/GMT+5'])(
    '%s is one',
    (name) => {
      expect(parseTimeZone(name, byDay)).toMatch(/./);
    },
  );

  it.each([
    '',
    '+02:00',
    '-05',
    'Berlin',
    'Europe/Atlantis',
    "UTC'; --",
    'localtime',
    'x'.repeat(9999),
  ])('%s is none', (name) => {
    expect(() => parseTimeZone(name, byDay)).toThrow('there is no time zone');
  });

  it('are for groups by time alone', () => {
    expect(() => parseTimeZone('UTC', parseGroupFields('status'))).toThrow('goes with a group');
  });
});
