/**
 * The whole platform in one process (`pnpm dev`) and as a stack of processes (`pnpm stack`), for whoever
 * drives it from outside: journeys, crash tests, benches.
 */
export { platformSettings, readConfig } from './config.ts';
export { migrateSettings } from './database/migrate-all.ts';
export { type DatabaseUrls, prepareDatabase } from './database/prepare-database.ts';
export { addSampleData } from './database/sample-data.ts';
export { identityKeysFor, identityKeysSetting, identityProcesses } from './identity-keys.ts';
export { type Platform, startPlatform } from './platform.ts';
export { loadSecrets } from './secrets.ts';
export { migrations, runnableServices } from './service-list.ts';
export { planStack } from './stack/programs.ts';
export { seedDatabase } from './stack/seed-database.ts';
export { startServers } from './stack/servers.ts';
