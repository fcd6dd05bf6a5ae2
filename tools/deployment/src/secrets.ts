/**
 * Owns: what is random in .env and in the Secret of Kubernetes.
 * Refuses: to know what a given secret is; what stands there already stays.
 */
import { randomBytes } from 'node:crypto';
import { identityKeysSetting, identityProcesses } from '@backlot/all-in-one';
import { ownSettingName, serviceNames } from '@backlot/contract';

export const identitySettingName = (process: string) =>
  ownSettingName(process, 'BACKLOT_IDENTITY_KEYS');

/** BACKLOT_IDENTITY_KEYS of every process; what they are made from is forgotten. */
export const createIdentityKeys = (): Record<string, string> => {
  const root = randomBytes(32).toString('hex');
  return Object.fromEntries(
    identityProcesses.map((process) => [
      identitySettingName(process),
      identityKeysSetting(process, root),
    ]),
  );
};

const passwordNames = (processes: readonly string[], server: string) =>
  processes.map((name) => `${name.toUpperCase()}_${server}_PASSWORD`);

export const redisPasswords = passwordNames(['gateway', 'projects'], 'REDIS');
export const postgresPasswords = passwordNames(serviceNames, 'POSTGRES');
export const rabbitmqPasswords = passwordNames(['gateway', ...serviceNames], 'RABBITMQ');

/** Redis takes this one too while the password of this name is exchanged. */
export const oldPasswordName = (name: string): string => name.replace('_REDIS_', '_OLD_REDIS_');

/** What each process has of its own, by its name in .env. */
export const ownSecretNames: readonly string[] = [
  ...identityProcesses.map(identitySettingName),
  ...postgresPasswords,
  ...rabbitmqPasswords,
  ...redisPasswords,
];

/** Of the users in PostgreSQL, RabbitMQ and Redis. */
export const createPassword = () => randomBytes(24).toString('hex');

const createPasswords = (): Record<string, string> => {
  const own = ownSecretNames.filter((name) => name.endsWith('_PASSWORD'));
  const all = ['POSTGRES_PASSWORD', ...own, 'REDIS_PASSWORD'];
  return Object.fromEntries(all.map((name) => [name, createPassword()]));
};

/** A new value for every secret that is needed, by its name in .env. */
export const createSecrets = (): Record<string, string> => ({
  ...createIdentityKeys(),
  BACKLOT_AUTH_MASTER_KEY: randomBytes(32).toString('base64'),
  BACKLOT_SECRETS_KEYS: randomBytes(32).toString('base64'),
  BACKLOT_OPERATOR_TOKEN: randomBytes(32).toString('hex'),
  ...createPasswords(),
});

/** `NAME=value` in the text of an env file. */
export const findLine = (name: string) => new RegExp(`^${name}=(.*)$`, 'm');

const pairName = (entry: string) => entry.split(':')[0] ?? '';
const listPairs = (entries: readonly string[]) => entries.map(pairName).join();

/** In the middle of an exchange there are two keys of each pair, the one that signs first. */
export const splitKeys = (value: string) => {
  const entries = value.split(',');
  const [first, second] = [entries.slice(0, entries.length / 2), entries.slice(entries.length / 2)];
  return listPairs(first) === listPairs(second) ? [first, second] : [entries];
};

/** Keys of pairs that call each other since an update, in every half. */
const withNewPairs = (value: string, fresh: string): string => {
  const halves = splitKeys(value);
  const known = new Set(halves.flat().map(pairName));
  const added = fresh.split(',').filter((entry) => !known.has(pairName(entry)));
  return halves.flatMap((half) => [...half, ...added]).join();
};

/**
 * Puts secrets into the text of an env file where it names them without a value, or not at all.
 * @returns the text, and the names of what was put in
 */
export const fillIn = (
  text: string,
  secrets: Readonly<Record<string, string>>,
): { text: string; filled: string[] } => {
  let all = text;
  const filled: string[] = [];
  for (const [name, value] of Object.entries(secrets)) {
    const [line, given] = findLine(name).exec(all) ?? [];
    const kept = given?.trim();
    const isKeys = name.endsWith('_IDENTITY_KEYS');
    const wanted = kept && isKeys ? withNewPairs(kept, value) : kept || value;
    if (wanted === kept) continue;
    const setting = `${name}=${wanted}`;
    all =
      line === undefined ? `${all.trimEnd()}\n${setting}\n` : all.replace(findLine(name), setting);
    filled.push(name);
  }
  return { text: all, filled };
};
