import { readFile, rename, writeFile } from 'node:fs/promises';
import {
  rotateIdentityKeys,
  rotatePostgresRoles,
  rotateRabbitmqPasswords,
  rotateRedisPasswords,
  rotationSteps,
} from './rotations.ts';
import { createSecrets, fillIn } from './secrets.ts';

/** By what stands behind `pnpm secrets`. */
const exchanges = new Map<string, (text: string) => string>([
  ...rotationSteps.map((step): [string, (text: string) => string] => [
    `rotate-identity ${step}`,
    (text) => rotateIdentityKeys(text, step),
  ]),
  ['rotate-redis add', (text) => rotateRedisPasswords(text, 'add')],
  ['rotate-redis drop', (text) => rotateRedisPasswords(text, 'drop')],
  ['rotate-rabbitmq', rotateRabbitmqPasswords],
  ['rotate-postgres', rotatePostgresRoles],
]);

const example = new URL('../../../.env.example', import.meta.url);

/** Whole or not at all, and for its owner only. */
const write = async (file: string, text: string) => {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
};

/**
 * `pnpm secrets` fills in the secrets of .env that have no value, and makes the file from .env.example
 * where there is none. `pnpm secrets rotate-identity add|swap|drop`, `rotate-redis add|drop`,
 * `rotate-rabbitmq` and `rotate-postgres` exchange those that are in it.
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
    print(
      `Done. Now: npx -y pnpm@12 rollout${args.join(' ') === 'rotate-redis drop' ? ' users' : ''}`,
    );
    return 0;
  }
  print(`Use: secrets, or with a .env ${[...exchanges.keys()].join(', ')}.`);
  return 1;
};
