import { type Command, InvalidArgumentError, Option } from 'commander';
import { call, findTarget } from '../api.ts';
import { printRows } from '../output.ts';
import { projectPath, readAll } from '../pages.ts';

const columns = ['id', 'name', 'scopes', 'createdAt', 'expiresAt', 'lastUsedAt'];
const dayMs = 24 * 60 * 60 * 1000;

const readDays = (text: string): number => {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number of days from 1 to 9999.');
};

interface CreateOptions {
  scope?: string[];
  days?: number;
}

const bodyFor = (name: string, { scope, days }: CreateOptions) => ({
  name,
  ...(scope && { scopes: scope }),
  ...(days !== undefined && { expiresAt: new Date(Date.now() + days * dayMs).toISOString() }),
});

export const addKeys = (program: Command): void => {
  const keys = program.command('keys').description('List, make or revoke secret keys of a project');
  keys
    .command('list <project>', { isDefault: true })
    .action(async (project: string, _options: object, command: Command) => {
      const rows = await readAll(await findTarget(command), projectPath(project, '/keys'));
      printRows(command, rows, columns);
    });
  keys
    .command('create <project> <name>')
    .description('The key is shown this once')
    .addOption(
      new Option('--scope <scope...>', 'what it opens; read and write unless stated').choices([
        'read',
        'write',
        'admin',
      ]),
    )
    .option('--days <days>', 'when it ends; never unless stated', readDays)
    .action(async (project: string, name: string, options: CreateOptions, command: Command) => {
      const path = projectPath(project, '/keys');
      const made = await call<object>(
        await findTarget(command),
        'POST',
        path,
        bodyFor(name, options),
      );
      printRows(command, [made], ['key', 'scopes', 'expiresAt']);
    });
  keys
    .command('delete <project> <id>')
    .description('Revoke a key at once')
    .action(async (project: string, id: string, _options: object, command: Command) => {
      const path = projectPath(project, `/keys/${encodeURIComponent(id)}`);
      await call(await findTarget(command), 'DELETE', path);
    });
};
