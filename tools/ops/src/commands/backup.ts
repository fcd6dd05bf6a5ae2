import type { Command } from 'commander';
import { besideServers, printJson, say } from '../output.ts';
import { databaseUrl } from '../settings.ts';

export const addBackup = (program: Command): void => {
  program
    .command('backup')
    .helpGroup(besideServers)
    .description(
      'Write the rows, the files and the names of the keys of the installation into a folder, as of one moment; everything goes on meanwhile. A run that broke off is continued',
    )
    .requiredOption('--to <folder>', 'a folder of its own')
    .action(async ({ to: folder }: { to: string }) => {
      const url = databaseUrl();
      const { openInstallation } = await import('../backup/open-installation.ts');
      const { makeBackup } = await import('../backup/backup.ts');
      const { nameKeys } = await import('../backup/keys.ts');
      const keys = nameKeys(process.env);
      const { tellInstallation } = await import('../backup/tell-installation.ts');
      const manifest = await openInstallation(url, (installation) =>
        makeBackup({
          ...installation,
          schemas: installation.migrations.map(({ schema }) => schema),
          folder,
          keys,
          say,
        }),
      );
      const isTold = await tellInstallation(folder, manifest, { isVerified: false });
      const { files, schemas, ...rest } = manifest;
      const { count, sizeBytes, lost, deleted } = files;
      const rows = schemas.flatMap(({ tables }) => tables).reduce((sum, { rows: n }) => sum + n, 0);
      printJson({ folder, ...rest, rows, files: { count, sizeBytes, lost, deleted }, isTold });
      if (lost.length === 0) return;
      say(`The back-up is whole but for ${lost.length} files whose bytes the store had lost.`);
      process.exitCode = 1;
    });
};
