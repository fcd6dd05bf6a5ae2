import type { Command } from 'commander';
import { call, findTarget } from '../api.ts';
import { printRows } from '../output.ts';
import { projectPath } from '../pages.ts';

export const collectionColumns = ['name', 'access', 'count', 'sizeBytes'];

const collectionPath = (project: string, name: string) =>
  projectPath(project, `/collections/${encodeURIComponent(name)}`);

const trashPath = (project: string) => projectPath(project, '/trash/collections');

export const addCollections = (program: Command): void => {
  const collections = program
    .command('collections')
    .description('List, rename, delete or restore collections of a project');
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
    .description('Delete a collection with all of its records; until keptUntil it can be restored')
    .option('--empty', 'its records alone: the collection stays, with its settings')
    .action(async (project: string, name: string, options: { empty?: true }, command: Command) => {
      const path = collectionPath(project, name) + (options.empty ? '?empty=1' : '');
      printRows(
        command,
        [await call<object>(await findTarget(command), 'DELETE', path)],
        ['count', 'keptUntil'],
      );
    });
  collections
    .command('deleted <project>')
    .description('Deleted and emptied collections that can be restored')
    .action(async (project: string, _options: object, command: Command) => {
      const target = await findTarget(command);
      const { items } = await call<{ items: object[] }>(target, 'GET', trashPath(project));
      printRows(command, items, ['name', 'how', 'records', 'deletedAt', 'keptUntil', 'by']);
    });
  collections
    .command('restore <project> <collection>')
    .description('Bring a deleted collection back, or what an emptied one had')
    .option('--as <name>', 'another one than before')
    .option('--deleted-at <time>', 'of several of the name; the newest unless stated')
    .action(
      async (
        project: string,
        name: string,
        { as, deletedAt }: { as?: string; deletedAt?: string },
        command: Command,
      ) => {
        const target = await findTarget(command);
        const path = `${collectionPath(project, name)}/restore`;
        const restored = await call<object>(target, 'POST', path, { name: as, deletedAt });
        printRows(command, [restored], collectionColumns);
      },
    );
  collections
    .command('erase <project> <collection>')
    .description('Erase deleted collections of a name for good, which makes room')
    .action(async (project: string, name: string, _options: object, command: Command) => {
      const path = `${trashPath(project)}/${encodeURIComponent(name)}`;
      const target = await findTarget(command);
      printRows(command, [await call<object>(target, 'DELETE', path)], ['count']);
    });
};
