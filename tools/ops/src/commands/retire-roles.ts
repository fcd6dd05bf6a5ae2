import { ownSettingName, serviceNames } from '@backlot/contract';
import type { Command } from 'commander';
import { besideServers, printJson } from '../output.ts';
import { databaseUrl } from '../settings.ts';

const addressNames = serviceNames.map((name) => ownSettingName(name, 'DATABASE_URL'));

export const addRetireRoles = (program: Command): void => {
  program
    .command('retire-roles')
    .helpGroup(besideServers)
    .description(
      'Of the two roles of each service in PostgreSQL, take the log-in from the one that BACKLOT_<SERVICE>_DATABASE_URL does not name; refused while it is used',
    )
    .action(async () => {
      const url = databaseUrl();
      const { otherRole, retireRoles, roleIn } = await import('@backlot/database');
      const addresses = addressNames.flatMap((name) => process.env[name] || []);
      if (addresses.length === 0) throw new Error(`None is set of ${addressNames.join(', ')}.`);
      const others = addresses.map((address) => otherRole(roleIn(address).name));
      printJson({ retired: await retireRoles(url, others) });
    });
};
