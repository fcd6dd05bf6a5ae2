import type { Command } from 'commander';
import { call, findTarget } from '../api.ts';
import { printRows } from '../output.ts';
import { projectPath } from '../pages.ts';

export const collectionColumns = ['name', 'access', 'count', 'sizeBytes'];

const collectionPath = (project: string, name: string) =>
  projectPath(project, `/collections/${encodeURIComponent(name)}`);

export const addCollections = (program: Command): void => {
  const collections = program
    .command('collections')
    .description('List, rename or delete collections of a project');
  collections
    .command('list <project>', { isDefault: true })
    .action(async (project: string, _options: object, command: Command) => {
      const target = await findTarget(command);
      const path = projectPath(project, '/collections');
      const { items } = await call<{ items: object[] }>(target, 'GET', path);
      printRows(command, items, collectionColumns);
    });
  collections
    .command('rename <project> <collection> <name>')
    .description('Apps that call it by the old name find nothing there')
    .action(
      async (project: string, from: string, name: string, _options: object, command: Command) => {
        const target = await findTarget(command);
        const renamed = await call<object>(target, 'PATCH', collectionPath(project, from), {
          name,
        });
        printRows(command, [renamed], collectionColumns);
      },
    );
  collections
    .command('delete <project> <collection>')
    .description('Delete a collection with all of its records, for good')
    .option('--empty', 'its records alone: the collection stays, with its settings')
    .action(async (project: string, name: string, options: { empty?: true }, command: Command) => {
      const path = collectionPath(project, name) + (options.empty ? '?empty=1' : '');
      printRows(
        command,
        [await call<object>(await findTarget(command), 'DELETE', path)],
        ['count'],
      );
    });
};
