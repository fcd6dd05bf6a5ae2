import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string>>;

const isSecret = (name: string) => /_(KEY|KEYS|TOKEN|URL)$/.test(name);
/** Shorter pieces are names. */
const leastLength = 16;

const passwordOf = (url: string) => [decodeURIComponent(new URL(url).password)];
const pieces = (text: string) => text.split(/[\s,:;|]+/);

/** What of these settings nobody may read in a log. */
export const secretsIn = (env: Environment): string[] =>
  Object.entries(env)
    .filter(([name]) => isSecret(name))
    .flatMap(([name, value]) => (name.endsWith('_URL') ? passwordOf(value) : pieces(value)))
    .filter((piece) => piece.length >= leastLength);

/** @throws Error that names each log which holds one of these */
export const refuseSecretsInLogs = async (folder: string, secrets: Iterable<string>) => {
  const known = [...new Set(secrets)];
  if (known.length === 0) throw new Error('No secret is in force.');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.log'));
  if (files.length === 0) throw new Error('No process has written a log.');
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const leaks = files.filter((_, n) => known.some((secret) => texts[n]?.includes(secret)));
  if (leaks.length > 0) throw new Error(`Secrets stand in ${leaks.join(', ')}.`);
};
