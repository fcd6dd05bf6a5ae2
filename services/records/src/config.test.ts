import { halfOfCores } from '@backlot/fair-shares';
import { describe, expect, it } from '@jest/globals';
import { recordsConfig } from './config.ts';

describe('the settings of records', () => {
  const defaults = {
    limits: { scanRows: 100_000, pageBytes: 32 * 1024 * 1024 },
    quota: {
      project: { records: 5_000_000, bytes: 5_000_000_000 },
      owner: { records: 20_000_000, bytes: 20_000_000_000 },
    },
    scanConcurrency: Math.min(6, halfOfCores),
    places: { byVisitors: 10, byUsersAndVisitors: 50 },
    history: { days: 7, bytes: 1_000_000_000 },
  };

  it('are optional, and empty counts as unset', () => {
    expect(recordsConfig.read({})).toEqual(defaults);
    for (const name of recordsConfig.names) {
      expect(recordsConfig.read({ [name]: '' })).toEqual(defaults);
    }
  });

  it.each([
    ['BACKLOT_SCAN_ROWS', '0'],
    ['BACKLOT_SCAN_ROWS', 'many'],
    ['BACKLOT_SCAN_CONCURRENCY', '0'],
    ['BACKLOT_SCAN_CONCURRENCY', '7'],
    ['BACKLOT_RECORDS_QUOTA_BYTES', '-1'],
    ['BACKLOT_RECORDS_OWNER_QUOTA_RECORDS', '0.5'],
  ])('%s=%s is refused by name', (name, value) => {
    expect(() => recordsConfig.read({ [name]: value })).toThrow(name);
  });

  it('are taken as they are given', () => {
    const env = {
      BACKLOT_SCAN_ROWS: '5',
      BACKLOT_SCAN_CONCURRENCY: '3',
      BACKLOT_RECORDS_QUOTA_BYTES: '1',
      BACKLOT_RECORDS_QUOTA_RECORDS: '0',
      BACKLOT_RECORDS_OWNER_QUOTA_BYTES: '3',
      BACKLOT_RECORDS_OWNER_QUOTA_RECORDS: '4',
      BACKLOT_HISTORY_DAYS: '2',
      BACKLOT_HISTORY_BYTES: '9',
    };
    expect(recordsConfig.read(env)).toEqual({
      limits: { ...defaults.limits, scanRows: 5 },
      quota: { project: { records: 0, bytes: 1 }, owner: { records: 4, bytes: 3 } },
      scanConcurrency: 3,
      places: defaults.places,
      history: { days: 2, bytes: 9 },
    });
  });
});
