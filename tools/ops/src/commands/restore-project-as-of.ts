import { call } from '@backlot/cli/api';
import type { Command } from 'commander';
import { operatorTarget } from '../operator-target.ts';
import { printJson } from '../output.ts';

interface RestoreProjectFlags {
  projectId: string;
  asOf: string;
  name?: string;
  files: boolean;
}

const longestCopyMs = 6 * 60_000;
const longestName = 100;

export const addRestoreProjectAsOf = (program: Command): void => {
  program
    .command('restore-project-as-of')
    .helpGroup("The operator's alone:")
    .description(
      'Make a project of the same owner beside one, with its records as they were; all else as it is now. The project itself stays as it is',
    )
    .requiredOption('--project-id <id>', 'of the project that is to be as it was')
    .requiredOption(
      '--as-of <time>',
      'such as 2026-11-27T14:05:00Z; as far as the log of changes goes',
    )
    .option('--name <name>', 'of the new one')
    .option('--no-files', 'leaves its files out')
    .action(async ({ projectId, asOf, files, name }: RestoreProjectFlags) => {
      const target = operatorTarget();
      const path = `/api/platform/projects/${encodeURIComponent(projectId)}`;
      const found = await call<{ name: string }>(target, 'GET', path);
      const given = name ?? `${found.name} as of ${asOf}`.slice(0, longestName);
      const body = { name: given, records: true, passwords: true, files, asOf };
      printJson(await call(target, 'POST', `${path}/copy`, body, {}, longestCopyMs));
    });
};
