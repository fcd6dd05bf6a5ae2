import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { readSettings } from './settings.ts';

const schema = z.object({
  BACKLOT_LOG_LEVEL: z.string().default('info'),
  BACKLOT_METRICS_PORT: z.coerce.number().optional(),
});

it.each([
  ['BACKLOT_LOG_LEVL', 'BACKLOT_LOG_LEVEL'],
  ['BACKLOT_LOGLEVEL', 'BACKLOT_LOG_LEVEL'],
  ['BACKLOT_METRIC_PORT', 'BACKLOT_METRICS_PORT'],
])('a misspelt setting is refused with the nearest name: %s', (name, meant) => {
  expect(() => readSettings(schema, { [name]: '1' })).toThrow(
    `Wrong settings:\n  ${name}: is no setting; ${meant} is`,
  );
  expect(readSettings(schema, { [name]: '' })).toEqual({ BACKLOT_LOG_LEVEL: 'info' });
});

it('a setting that is none is refused although none is like it, whatever the process reads', () => {
  const env = { BACKLOT_LOG_LEVEL: 'warn', BACKLOT_TELEMETRY_ENDPOINT: 'x', BACKLOT_S3_BUKET: 'x' };
  for (const reads of [schema, z.object({})])
    expect(() => readSettings(reads, env)).toThrow(
      'Wrong settings:\n  BACKLOT_TELEMETRY_ENDPOINT: is no setting\n  BACKLOT_S3_BUKET: is no setting; BACKLOT_S3_BUCKET is',
    );
});

it('settings of other processes, and of others, are none of ours', () => {
  const env = { BACKLOT_STORAGE_DIR: '/files', LOG_LEVEL: 'x', BACKLOT_LOG_LEVEL: 'warn' };
  expect(readSettings(schema, env)).toEqual({ BACKLOT_LOG_LEVEL: 'warn' });
});
