import type { Command } from 'commander';
import { call, findTarget } from '../api.ts';
import { printRows } from '../output.ts';
import { readAll } from '../pages.ts';

const columns = ['id', 'name', 'status', 'baseUrl'];

export const addProjects = (program: Command): void => {
  const projects = program.command('projects').description('List or make projects');
  projects
    .command('list', { isDefault: true })
    .description('Own projects, newest first')
    .action(async (_options: object, command: Command) => {
      const rows = await readAll(await findTarget(command), '/api/platform/projects');
      printRows(command, rows, columns);
    });
  projects
    .command('create <name>')
    .description('Make a project')
    .action(async (name: string, _options: object, command: Command) => {
      const target = await findTarget(command);
      const made = await call<object>(target, 'POST', '/api/platform/projects', { name });
      printRows(command, [made], columns);
    });
};
