import type { Command } from 'commander';
import { besideServers, printJson, say } from '../output.ts';
import { databaseUrl } from '../settings.ts';

interface RestoreFlags {
  from: string;
  continue?: true;
  withoutKeys?: true;
  dryRun?: true;
}

export const addRestore = (program: Command): void => {
  program
    .command('restore')
    .helpGroup(besideServers)
    .description(
      'Check a back-up part by part and bring it back, into an empty installation whose processes are stopped',
    )
    .requiredOption('--from <folder>', 'what backup has written')
    .option(
      '--continue',
      'after a restore that broke off: files that it has put there may be there',
    )
    .option('--without-keys', 'although the settings lack keys of it: what they seal is lost')
    .option('--dry-run', 'only checks the back-up, and tells the installation that it was verified')
    .action(async (flags: RestoreFlags) => {
      const { checkBackup, restoreBackup } = await import('../backup/restore.ts');
      const { from: folder } = flags;
      const manifest = await checkBackup(folder);
      const { beganAt, release, files } = manifest;
      const summary = { beganAt, release, files: files.count };
      if (flags.dryRun) {
        const { tellInstallation } = await import('../backup/tell-installation.ts');
        const isTold = await tellInstallation(folder, manifest, { isVerified: true });
        return printJson({ isWhole: true, ...summary, isTold });
      }
      const url = databaseUrl();
      const { missingKeys } = await import('../backup/keys.ts');
      const missing = missingKeys(manifest.keys, process.env);
      if (missing.length > 0 && !flags.withoutKeys)
        throw new Error(
          `The settings lack keys of the back-up: ${missing.join(', ')}. --without-keys restores what they do not seal.`,
        );
      const { openInstallation } = await import('../backup/open-installation.ts');
      const { migrateAll } = await import('@backlot/all-in-one/migrate-all');
      await openInstallation(url, (installation) =>
        restoreBackup({
          ...installation,
          folder,
          manifest,
          continues: flags.continue === true,
          say,
        }),
      );
      await migrateAll(process.env, say);
      printJson({ restored: true, ...summary });
    });
};
