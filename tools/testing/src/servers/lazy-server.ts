import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../until.ts';

/**
 * The result of `start`, which runs once in a whole test run: in the file that asks first, under a
 * lock, while the others wait. What it starts has to outlive the process and lie in `dataDir`.
 */
export async function startOncePerRun<T>(
  name: string,
  start: (dataDir: string) => Promise<T>,
): Promise<T> {
  const run = process.env.TEST_SERVERS_DIR;
  if (run === undefined) {
    throw new Error('TEST_SERVERS_DIR is unset: run tests with pnpm test, whose set-up sets it.');
  }
  const file = join(run, `${name}.json`);
  const isFirst = await mkdir(join(run, `${name}.lock`)).then(
    () => true,
    () => false,
  );
  if (!isFirst) return awaitStart(file, name);
  const outcome = await start(join(run, name)).then(
    (started) => ({ started }),
    (error: unknown) => ({ failure: String(error) }),
  );
  await writeFile(`${file}.new`, JSON.stringify(outcome), { mode: 0o600 });
  await rename(`${file}.new`, file);
  if ('failure' in outcome) throw new Error(outcome.failure);
  return outcome.started;
}

async function awaitStart<T>(file: string, name: string): Promise<T> {
  const text = await until(() => readFile(file, 'utf8').catch(() => undefined), {
    timeoutMs: 170_000,
    what: `the start of ${name} by another test`,
  });
  const outcome: { started: T } | { failure: string } = JSON.parse(text);
  if ('failure' in outcome) throw new Error(outcome.failure);
  return outcome.started;
}
