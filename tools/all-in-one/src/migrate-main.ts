import { parseArgs } from 'node:util';
import { lockWaitsFor } from '@backlot/database';
import { endOnSignal } from '@backlot/service';
import { migrateAll } from './database/migrate-all.ts';

/** Undefined where it was not given. @throws Error unless it is a number of seconds */
const toSeconds = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new Error(`--${name} takes seconds from 1 to 99999.`);
};

const migrateAsAsked = async () => {
  const options = { wait: { type: 'string' }, longest: { type: 'string' } } as const;
  const { values } = parseArgs({ options });
  const wait = toSeconds('wait', values.wait);
  const longest = toSeconds('longest', values.longest);
  await migrateAll(process.env, console.log, {
    ...(wait !== undefined && { lockWaits: lockWaitsFor(wait) }),
    ...(longest !== undefined && { statementMs: longest * 1000 }),
  });
};

endOnSignal();
await migrateAsAsked().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
