import { describe, expect, it } from '@jest/globals';
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
