import { defaultLimits } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import { projectsConfig } from './config.ts';

const needed = { BACKLOT_SECRETS_KEYS: Buffer.alloc(32).toString('base64') };

describe('the settings', () => {
  it('asks for the master keys alone', () => {
    expect(() => projectsConfig.read({})).toThrow('BACKLOT_SECRETS_KEYS');
    expect(projectsConfig.read(needed)).toMatchObject({
      publicUrl: 'http://localhost:8080',
      maxProjectsPerOwner: 1000,
      maxKeysPerProject: 100,
      restoreDays: 30,
      monthlyCredits: 1000,
      reconcileSeconds: 300,
      backupHours: 26,
      priceChanges: {},
      defaultLimits,
      webhooksToLoopback: false,
    });
  });

  it.each(projectsConfig.names.filter((name) => !Object.hasOwn(needed, name)))(
    'takes an empty %s for one that is not set',
    (name) => {
      expect(projectsConfig.read({ ...needed, [name]: '' })).toEqual(projectsConfig.read(needed));
    },
  );

  it('merges limits into the defaults and cuts slashes off the public URL', () => {
    const config = projectsConfig.read({
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
    ['BACKLOT_MONTHLY_CREDITS', '-1'],
    ['BACKLOT_BACKUP_HOURS', '-1'],
    ['BACKLOT_MONTHLY_CREDITS', '0.5'],
    ['BACKLOT_PRICES', '{"sendMail": 1}'],
    ['BACKLOT_SECRETS_KEYS', 'short'],
    ['BACKLOT_WEBHOOKS_TO_LOOPBACK', 'yes'],
    ['BACKLOT_PROJECT_HOSTS', 'apps.example.com'],
    ['BACKLOT_PROJECT_HOSTS', '*.Apps.example/'],
  ])('refuses %s=%s, naming it', (name, value) => {
    expect(() => projectsConfig.read({ ...needed, [name]: value })).toThrow(name);
  });
});
