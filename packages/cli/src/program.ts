/**
 * The command `backlot`: what an owner does with their projects, from a terminal or a script. It calls
 * the public API and knows nothing else of the platform.
 */
import { createRequire } from 'node:module';
import { Command } from 'commander';
import { addAccess } from './commands/access.ts';
import { addArchives } from './commands/archives.ts';
import { addCollections } from './commands/collections.ts';
import { addConfig } from './commands/config.ts';
import { addKeys } from './commands/keys.ts';
import { addLogin } from './commands/login.ts';
import { addLogs } from './commands/logs.ts';
import { addProjects } from './commands/projects.ts';
import { addRecords } from './commands/records.ts';
import { addSchema } from './commands/schema.ts';
import { addTypes } from './commands/types.ts';
import { addUndo } from './commands/undo.ts';
import { addUsers } from './commands/users.ts';

const { version } = createRequire(import.meta.url)('@backlot/cli/package.json') as {
  version: string;
};

export const createProgram = (): Command => {
  const program = new Command('backlot')
    .description('Projects of a Backlot installation')
    .version(version)
    .option('--host <address>', 'the installation; BACKLOT_HOST, or the one signed in at')
    .option('--key <key>', 'a secret key instead of the sign-in; BACKLOT_KEY')
    .option('--json', 'print the answers as JSON')
    .showHelpAfterError();
  for (const add of [
    addLogin,
    addProjects,
    addTypes,
    addKeys,
    addAccess,
    addCollections,
    addRecords,
    addSchema,
    addUndo,
    addConfig,
    addArchives,
    addUsers,
    addLogs,
  ])
    add(program);
  return program;
};
