import { endOnSignal } from '@backlot/service';
import { migrateAll } from './database/migrate-all.ts';

endOnSignal();
await migrateAll(process.env, console.log).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
