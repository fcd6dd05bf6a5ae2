import type { Command } from 'commander';
import { call, findTarget } from '../api.ts';
import { printRows } from '../output.ts';
import { projectPath } from '../pages.ts';

const columns = ['name', 'access', 'count', 'sizeBytes'];

export const addAccess = (program: Command): void => {
  program
    .command('access <project> [collection] [preset]')
    .description('Who may read and change collections; with a preset, set it for one')
    .action(
      async (
        project: string,
        collection: string | undefined,
        access: string | undefined,
        _options: object,
        command: Command,
      ) => {
        const target = await findTarget(command);
        const path = projectPath(project, '/collections');
        if (collection !== undefined && access !== undefined) {
          const one = `${path}/${encodeURIComponent(collection)}`;
          printRows(command, [await call<object>(target, 'PUT', one, { access })], columns);
          return;
        }
        const { items } = await call<{ items: { name: string }[] }>(target, 'GET', path);
        const rows = items.filter(({ name }) => collection === undefined || name === collection);
        printRows(command, rows, columns);
      },
    );
};
