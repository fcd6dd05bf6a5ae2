/**
 * Owns: what is random in .env and in the Secret of Kubernetes, and how identity keys and passwords are
 * exchanged there.
 * Refuses: to know what a given secret is; what stands there already stays.
 */
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { identityKeysSetting, identityProcesses } from '@backlot/all-in-one';
import { ownSettingName, serviceNames } from '@backlot/contract';

const identitySettingName = (process: string) => ownSettingName(process, 'BACKLOT_IDENTITY_KEYS');

/** BACKLOT_IDENTITY_KEYS of every process; what they are made from is forgotten. */
const createIdentityKeys = (): Record<string, string> => {
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

const redisPasswords = passwordNames(['gateway', 'projects'], 'REDIS');
const rabbitmqPasswords = passwordNames(['gateway', ...serviceNames], 'RABBITMQ');

/** Redis takes this one too while the password of this name is exchanged. */
export const oldPasswordName = (name: string): string => name.replace('_REDIS_', '_OLD_REDIS_');

/** What each process has of its own, by its name in .env. */
export const ownSecretNames: readonly string[] = [
  ...identityProcesses.map(identitySettingName),
  ...passwordNames(serviceNames, 'POSTGRES'),
  ...rabbitmqPasswords,
  ...redisPasswords,
];

/** Of the users in PostgreSQL, RabbitMQ and Redis. */
const createPassword = () => randomBytes(24).toString('hex');

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
const findLine = (name: string) => new RegExp(`^${name}=(.*)$`, 'm');

const pairName = (entry: string) => entry.split(':')[0] ?? '';
const listPairs = (entries: readonly string[]) => entries.map(pairName).join();

/** In the middle of an exchange there are two keys of each pair, the one that signs first. */
const splitKeys = (value: string) => {
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

/** In this order, with a restart of all processes after each (docs/operations.md). */
const rotationSteps = ['add', 'swap', 'drop'] as const;
type RotationStep = (typeof rotationSteps)[number];

/** @throws Error where the keys are not as the step before leaves them */
const rotate = (name: string, value: string, step: RotationStep, added: string): string => {
  const [first = [], second] = splitKeys(value);
  const isDouble = second !== undefined;
  if (isDouble === (step === 'add')) {
    throw new Error(`${name} holds ${isDouble ? 'two keys' : 'one key'} of each pair already.`);
  }
  if (step === 'add') return [value, added].join();
  return (step === 'swap' ? [...(second ?? []), ...first] : first).join();
};

/**
 * One step of exchanging every identity key, in the text of an env file: a second key is added, becomes
 * the one that signs, and remains alone.
 * @throws Error where the keys are not as the step before leaves them
 */
export const rotateIdentityKeys = (text: string, step: RotationStep): string => {
  const added = createIdentityKeys();
  let all = text;
  for (const process of identityProcesses) {
    const name = identitySettingName(process);
    const [line, value] = findLine(name).exec(all) ?? [];
    if (line === undefined || !value) throw new Error(`${name} has no value.`);
    all = all.replace(line, `${name}=${rotate(name, value, step, added[name] ?? '')}`);
  }
  return all;
};

/** Every password in these lines anew. @throws Error where one has no value */
const exchangePasswords = (text: string, names: readonly string[], keepsOld: boolean): string => {
  let all = text;
  for (const name of names) {
    const [line, value] = findLine(name).exec(all) ?? [];
    if (line === undefined || !value) throw new Error(`${name} has no value.`);
    const old = keepsOld ? `\n${oldPasswordName(name)}=${value}` : '';
    all = all.replace(line, `${name}=${createPassword()}${old}`);
  }
  return all;
};

/**
 * One step of exchanging the processes' passwords in Redis, in the text of an env file: new ones are used
 * while the old ones are still taken, and remain alone.
 * @throws Error where the passwords are not as the step before leaves them
 */
export const rotateRedisPasswords = (text: string, step: 'add' | 'drop'): string => {
  const old = redisPasswords.filter((name) => findLine(oldPasswordName(name)).test(text));
  if (old.length > 0 === (step === 'add'))
    throw new Error(`Redis takes ${step === 'add' ? 'two passwords' : 'one password'} already.`);
  if (step === 'add') return exchangePasswords(text, redisPasswords, true);
  return text
    .split('\n')
    .filter((line) => !old.some((name) => line.startsWith(`${oldPasswordName(name)}=`)))
    .join('\n');
};

/** The processes' passwords in RabbitMQ, which knows one for each user. @throws Error where one is missing */
export const rotateRabbitmqPasswords = (text: string): string =>
  exchangePasswords(text, rabbitmqPasswords, false);

/** By what stands behind `pnpm secrets`. */
const exchanges = new Map<string, (text: string) => string>([
  ...rotationSteps.map((step): [string, (text: string) => string] => [
    `rotate-identity ${step}`,
    (text) => rotateIdentityKeys(text, step),
  ]),
  ['rotate-redis add', (text) => rotateRedisPasswords(text, 'add')],
  ['rotate-redis drop', (text) => rotateRedisPasswords(text, 'drop')],
  ['rotate-rabbitmq', rotateRabbitmqPasswords],
]);

const example = new URL('../../../.env.example', import.meta.url);

/** Whole or not at all, and for its owner only. */
const write = async (file: string, text: string) => {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
};

/**
 * `pnpm secrets` fills in the secrets of .env that have no value, and makes the file from .env.example
 * where there is none. `pnpm secrets rotate-identity add|swap|drop`, `rotate-redis add|drop` and
 * `rotate-rabbitmq` exchange those that are in it.
 * @returns the exit code
 */
export const runSecrets = async (
  args: readonly string[],
  file: string,
  print: (line: string) => void,
): Promise<number> => {
  const present = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const exchange = exchanges.get(args.join(' '));
  if (args.length === 0) {
    const { text, filled } = fillIn(present ?? (await readFile(example, 'utf8')), createSecrets());
    await write(file, text);
    print(filled.length === 0 ? 'Nothing was missing.' : `Filled in: ${filled.join(', ')}`);
    return 0;
  }
  if (exchange && present !== undefined) {
    await write(file, exchange(present));
    print('Done. Now: npx -y pnpm@12 rollout');
    return 0;
  }
  print(`Use: secrets, or with a .env ${[...exchanges.keys()].join(', ')}.`);
  return 1;
};
