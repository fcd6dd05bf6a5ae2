import { migrateAll } from './database/migrate-all.ts';

await migrateAll(process.env, console.log).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
