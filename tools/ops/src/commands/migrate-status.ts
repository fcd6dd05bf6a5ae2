import type { Command } from 'commander';
import { besideServers, printJson } from '../output.ts';
import { databaseUrl } from '../settings.ts';

export const addMigrateStatus = (program: Command): void => {
  program
    .command('migrate-status')
    .helpGroup(besideServers)
    .description('What has been applied to DATABASE_URL and by which release, and what is pending')
    .action(async () => {
      const url = databaseUrl();
      const { migrationStatus } = await import('@backlot/database');
      const { migrations } = await import('@backlot/all-in-one/service-list');
      const items = [];
      for (const { schema, directory } of migrations)
        items.push(await migrationStatus({ url, schema, directory }));
      printJson({ items });
    });
};
