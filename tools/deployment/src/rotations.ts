/** How what is random in .env is exchanged, each step for all processes while they run (docs/operations.md). */
import { identityProcesses } from '@backlot/all-in-one';
import { otherRole } from '@backlot/database';
import {
  createIdentityKeys,
  createPassword,
  findLine,
  identitySettingName,
  oldPasswordName,
  postgresPasswords,
  rabbitmqPasswords,
  redisPasswords,
  splitKeys,
} from './secrets.ts';

/** In this order, with a restart of all processes after each (docs/operations.md). */
export const rotationSteps = ['add', 'swap', 'drop'] as const;
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

const roleSettingName = (password: string) => password.replace(/_PASSWORD$/, '_ROLE');
const firstRole = (password: string) =>
  `backlot_${password.replace(/_POSTGRES_PASSWORD$/, '').toLowerCase()}`;

/**
 * The other role of each service in PostgreSQL, with a new password: the one before is taken until
 * `pnpm ops retire-roles`. @throws Error where a password is missing
 */
export const rotatePostgresRoles = (text: string): string => {
  let all = exchangePasswords(text, postgresPasswords, false);
  for (const name of postgresPasswords) {
    const setting = roleSettingName(name);
    const [before, role] = findLine(setting).exec(all) ?? [];
    const line = `${setting}=${otherRole(role?.trim() || firstRole(name))}`;
    const [passwordLine = ''] = findLine(name).exec(all) ?? [];
    all =
      before === undefined
        ? all.replace(passwordLine, `${line}\n${passwordLine}`)
        : all.replace(before, line);
  }
  return all;
};
