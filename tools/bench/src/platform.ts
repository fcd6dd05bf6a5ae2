import { fileURLToPath } from 'node:url';
import { operatorToken } from './prepare.ts';
import { reachable, startProgram } from './program.ts';

/** All services in one process, as `pnpm dev` runs them. */
export const startPlatform = async (port: number, dataDir: string, databaseUrl = '') => {
  const env = { PORT: String(port), BACKLOT_DATA_DIR: dataDir, DATABASE_URL: databaseUrl };
  const startedAt = performance.now();
  const program = startProgram(fileURLToPath(import.meta.resolve('@backlot/all-in-one/main')), [], {
    ...env,
    BACKLOT_OPERATOR_TOKEN: operatorToken,
  });
  await reachable(`http://localhost:${port}/readyz`, 200);
  return { program, readyMs: performance.now() - startedAt };
};
