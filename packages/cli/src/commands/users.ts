import type { Command } from 'commander';
import { call, findTarget } from '../api.ts';
import { exportUser } from '../export-user.ts';
import { printRows } from '../output.ts';
import { projectPath, readAll } from '../pages.ts';

interface Block {
  reason?: string;
  until?: string;
}

const setBlock = async (
  command: Command,
  project: string,
  id: string,
  body: Block & { blocked: boolean },
) => {
  const path = projectPath(project, `/users/${encodeURIComponent(id)}`);
  await call(await findTarget(command), 'PATCH', path, body);
};

export const addUsers = (program: Command): void => {
  const users = program
    .command('users')
    .description('List, block, export or erase users of a project');
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
  users
    .command('block <project> <id>')
    .description('From now on the user reads what anyone reads, and writes nothing')
    .option('--reason <text>', 'shown to the user')
    .option('--until <time>', 'in ISO 8601; without it for good')
    .action(async (project: string, id: string, block: Block, command: Command) => {
      await setBlock(command, project, id, { blocked: true, ...block });
    });
  users
    .command('unblock <project> <id>')
    .action(async (project: string, id: string, _options: object, command: Command) => {
      await setBlock(command, project, id, { blocked: false });
    });
  users
    .command('export <project> <id>')
    .description(
      'All that there is of a user, as lines of JSON: account, records, files, mails, payments',
    )
    .action(async (project: string, id: string, _options: object, command: Command) => {
      await exportUser(await findTarget(command), project, id);
    });
};
