import { masterKeySettings } from '@backlot/contract';
import { createSealer, masterKeysSetting } from '@backlot/sealing';

type Environment = Readonly<Record<string, string | undefined>>;

/** Names of the keys, which say nothing else of them. @throws Error where one is missing or no key */
export const nameKeys = (env: Environment): Record<string, string[]> =>
  Object.fromEntries(
    masterKeySettings.map((setting) => {
      const keys = masterKeysSetting.safeParse(env[setting] ?? '');
      if (!keys.success)
        throw new Error(
          `${setting} is not set, or no key: the back-up names the keys that open it.`,
        );
      return [setting, createSealer(keys.data).keyNames.map((name) => name.toString('hex'))];
    }),
  );

/** Keys of a back-up that the settings do not have, such as `BACKLOT_SECRETS_KEYS 1f2e…`. */
export const missingKeys = (
  needed: Readonly<Record<string, readonly string[]>>,
  env: Environment,
): string[] => {
  const present = nameKeys(env);
  return Object.entries(needed).flatMap(([setting, names]) =>
    names.filter((name) => !present[setting]?.includes(name)).map((name) => `${setting} ${name}`),
  );
};
