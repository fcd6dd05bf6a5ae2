import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { call, findTarget } from '../api.ts';
import { printRows } from '../output.ts';
import { projectPath } from '../pages.ts';

interface UndoOptions {
  since?: string;
  restorePoint?: string;
  actor?: string;
  request?: string;
  collections?: string[];
  dryRun?: true;
}

interface Undo {
  id: string;
  state: 'running' | 'done' | 'failed';
}

const lookEveryMs = 1000;

export const addUndo = (program: Command): void => {
  program
    .command('undo <project>')
    .description(
      'Take back what was changed, by anybody or one actor, since a time or restore point',
    )
    .option('--since <time>', 'such as 2026-11-27T14:05:00Z')
    .option('--restore-point <name>', 'in place of a time')
    .option('--actor <actor>', 'user:<id>, key:<id>, owner, operator or visitor')
    .option('--request <id>', 'of one call; undo:<id> takes an undo back')
    .option('--collections <names...>', 'only these')
    .option('--dry-run', 'only counts what it would do')
    .action(async (project: string, options: UndoOptions, command: Command) => {
      const target = await findTarget(command);
      const { request: requestId, ...given } = options;
      const path = projectPath(project, '/undo');
      let undo = await call<Undo>(target, 'POST', path, { ...given, requestId });
      while (undo.state === 'running') {
        await pause(lookEveryMs);
        undo = await call<Undo>(target, 'GET', `${path}/${undo.id}`);
      }
      const shown = [
        'state',
        'created',
        'updated',
        'deleted',
        'conflictCount',
        'conflicts',
        'collections',
        'notUndone',
        'error',
      ];
      printRows(command, [undo], shown);
    });

  program
    .command('restore-points <project>')
    .description('Names of states of all records, to which an undo brings them back')
    .option('--create <name>', 'names what there is now')
    .option('--delete <name>')
    .action(
      async (project: string, options: { create?: string; delete?: string }, command: Command) => {
        const target = await findTarget(command);
        const path = projectPath(project, '/restore-points');
        if (options.create !== undefined)
          await call(target, 'POST', path, { name: options.create });
        if (options.delete !== undefined)
          await call(target, 'DELETE', `${path}/${encodeURIComponent(options.delete)}`);
        const { items } = await call<{ items: object[] }>(target, 'GET', path);
        printRows(command, items, ['name', 'createdAt']);
      },
    );
};
