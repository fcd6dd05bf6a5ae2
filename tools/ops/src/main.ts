import { CallFailed } from '@backlot/cli/api';
import { endOnSignal } from '@backlot/service';
import { CommanderError } from 'commander';
import { createProgram } from './program.ts';

/** What a script can tell from the exit code: refused, typed wrongly, or that it may succeed later. */
const exitCodes = { refused: 1, misused: 2, mayPass: 3 } as const;

const report = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.misused;
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`${error.message}\n`);
  if (!(error instanceof CallFailed)) return exitCodes.refused;
  if (error.hint) process.stderr.write(`${error.hint}\n`);
  return error.retryAfterSeconds === undefined ? exitCodes.refused : exitCodes.mayPass;
};

endOnSignal();
// Who reads the answer may stop reading, such as `head`.
process.stdout.on('error', () => process.exit());
const program = createProgram();
if (process.argv.length === 2) program.outputHelp();
else process.exitCode = await program.parseAsync().then(() => process.exitCode ?? 0, report);
