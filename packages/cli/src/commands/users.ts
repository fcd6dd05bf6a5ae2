import type { Command } from 'commander';
import { call, findTarget } from '../api.ts';
import { printRows } from '../output.ts';
import { projectPath, readAll } from '../pages.ts';

export const addUsers = (program: Command): void => {
  const users = program.command('users').description('List or erase users of a project');
  users
    .command('list <project>', { isDefault: true })
    .action(async (project: string, _options: object, command: Command) => {
      const rows = await readAll(await findTarget(command), projectPath(project, '/users'));
      printRows(command, rows, ['id', 'email', 'name', 'role', 'emailVerified', 'createdAt']);
    });
  users
    .command('delete <project> <id>')
    .description('Erase a user and their sessions')
    .action(async (project: string, id: string, _options: object, command: Command) => {
      const path = projectPath(project, `/users/${encodeURIComponent(id)}`);
      await call(await findTarget(command), 'DELETE', path);
    });
};
