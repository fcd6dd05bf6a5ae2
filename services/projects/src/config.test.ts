import { defaultLimits } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import { parseConfig } from './config.ts';

const needed = {
  DATABASE_URL: 'postgres://localhost/backlot',
  BACKLOT_IDENTITY_SECRET: 'x'.repeat(32),
};

describe('parseConfig', () => {
  it('asks for the database and the identity secret only', () => {
    expect(parseConfig(needed)).toMatchObject({
      publicUrl: 'http://localhost:8080',
      maxProjectsPerOwner: 1000,
      maxKeysPerProject: 100,
      restoreDays: 30,
      defaultLimits,
    });
    expect(() => parseConfig({})).toThrow('DATABASE_URL');
  });

  it('merges limits into the defaults and cuts slashes off the public URL', () => {
    const config = parseConfig({
      ...needed,
      BACKLOT_PUBLIC_URL: 'https://api.example.org/',
      BACKLOT_DEFAULT_LIMITS: '{"ai":{"perCaller":5}}',
    });
    expect(config.publicUrl).toBe('https://api.example.org');
    expect(config.defaultLimits).toEqual({
      ...defaultLimits,
      ai: { perCaller: 5, perProject: 600 },
    });
  });

  it.each([
    ['BACKLOT_DEFAULT_LIMITS', '{'],
    ['BACKLOT_DEFAULT_LIMITS', '{"fast":{}}'],
    ['BACKLOT_DEFAULT_LIMITS', '{"ai":{"perCaller":-1}}'],
    ['BACKLOT_PUBLIC_URL', 'api.example.org'],
    ['BACKLOT_RESTORE_DAYS', 'soon'],
    ['BACKLOT_IDENTITY_SECRET', 'short'],
  ])('refuses %s=%s, naming it', (name, value) => {
    expect(() => parseConfig({ ...needed, [name]: value })).toThrow(name);
  });
});
