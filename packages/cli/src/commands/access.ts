import type { Command } from 'commander';
import { CallFailed, call, findTarget } from '../api.ts';
import { printRows } from '../output.ts';
import { projectPath } from '../pages.ts';
import { collectionColumns } from './collections.ts';

const example = '{"read":["anyone"],"create":["users"],"change":["owner"]}';

/** A preset's name, or rules as JSON. @throws CallFailed */
const readAccess = (text: string): unknown => {
  if (!/^\s*[{["]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new CallFailed(
      `"${text}" is no JSON.`,
      `Rules in single quotes, so that the shell leaves them: '${example}'.`,
    );
  }
};

export const addAccess = (program: Command): void => {
  program
    .command('access <project> [collection] [access]')
    .description(
      'Who may read and change collections; with a preset or rules as JSON, set it for one',
    )
    .action(
      async (
        project: string,
        collection: string | undefined,
        given: string | undefined,
        _options: object,
        command: Command,
      ) => {
        const access = given === undefined ? undefined : readAccess(given);
        const target = await findTarget(command);
        const path = projectPath(project, '/collections');
        if (collection !== undefined && access !== undefined) {
          const one = `${path}/${encodeURIComponent(collection)}`;
          printRows(
            command,
            [await call<object>(target, 'PUT', one, { access })],
            collectionColumns,
          );
          return;
        }
        const { items } = await call<{ items: { name: string }[] }>(target, 'GET', path);
        const rows = items.filter(({ name }) => collection === undefined || name === collection);
        printRows(command, rows, collectionColumns);
      },
    );
};
