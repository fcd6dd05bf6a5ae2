import { gatewaySettings } from '@backlot/gateway';
import { nearestName } from '@backlot/http';
import { settingNames } from '@backlot/service';
import { describe, expect, it } from '@jest/globals';
import { platformSettings } from './config.ts';
import { migrateSettings } from './database/migrate-all.ts';
import { runnableServices } from './service-list.ts';

const key = Buffer.alloc(32).toString('base64');
/** What no service starts without. */
const needed = {
  BACKLOT_AUTH_MASTER_KEY: key,
  BACKLOT_SECRETS_KEYS: key,
  BACKLOT_STORAGE_DIR: '/files',
};

describe.each(runnableServices)('the settings of $name', ({ config }) => {
  it.each(config.names.filter((name) => !(name in needed)))(
    '%s left empty counts as unset',
    (name) => {
      expect(config.read({ ...needed, [name]: '' })).toEqual(config.read(needed));
    },
  );

  it('that are needed are missed where they are empty', () => {
    for (const name of config.names.filter((setting) => setting in needed))
      expect(() => config.read({ ...needed, [name]: '' })).toThrow(name);
  });
});

const isOurs = (name: string) => name.startsWith('BACKLOT_');

it('no setting is a slip away from another one, or the other process would refuse it', () => {
  const names = new Set([
    ...[...platformSettings, ...migrateSettings, ...gatewaySettings],
    ...runnableServices.flatMap(settingNames),
  ]);
  const plain = [...names].filter(isOurs).map((name) => name.slice('BACKLOT_'.length));
  expect(plain.length).toBeGreaterThan(50);
  for (const name of plain)
    expect([
      name,
      nearestName(
        name,
        plain.filter((other) => other !== name),
      ),
    ]).toEqual([...[name, undefined]]);
});
