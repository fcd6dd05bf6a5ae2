import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operatorToken } from './prepare.ts';
import { devSettings, reachable, startProgram } from './program.ts';

export interface PlatformOptions {
  /** The folder of another version; this one unless stated. */
  checkout?: string;
  /** Of the services. */
  settings?: Record<string, string>;
}

/** All services in one process, as `pnpm dev` runs them. */
export const startPlatform = async (
  port: number,
  dataDir: string,
  databaseUrl = '',
  { checkout, settings = {} }: PlatformOptions = {},
) => {
  const env = {
    ...(checkout === undefined && devSettings),
    PORT: String(port),
    BACKLOT_DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
  };
  const startedAt = performance.now();
  const file =
    checkout === undefined
      ? fileURLToPath(import.meta.resolve('@backlot/all-in-one/main'))
      : join(checkout, 'tools/all-in-one/src/main.ts');
  const program = startProgram(file, [], {
    ...env,
    ...settings,
    BACKLOT_OPERATOR_TOKEN: operatorToken,
  });
  await reachable(`http://localhost:${port}/readyz`, 200).catch(async (error: unknown) => {
    await program.stop();
    throw error;
  });
  return { program, readyMs: performance.now() - startedAt };
};
