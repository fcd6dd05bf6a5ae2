import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { CallFailed, call, findTarget } from '../api.ts';
import { printRows } from '../output.ts';
import { projectPath } from '../pages.ts';

interface SchemaOptions {
  set?: string;
  propose?: true;
  report?: true;
}

/** `@file`, or the text itself. @throws CallFailed */
const readSchema = async (given: string): Promise<unknown> => {
  try {
    return JSON.parse(given.startsWith('@') ? await readFile(given.slice(1), 'utf8') : given);
  } catch (error) {
    throw new CallFailed(
      `The schema can not be read: ${error instanceof Error ? error.message : error}.`,
      'JSON in single quotes, @<file>, or null to remove it.',
    );
  }
};

const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);

export const addSchema = (program: Command): void => {
  program
    .command('schema <project> <collection>')
    .description('What the records of a collection have to be, as JSON Schema')
    .option('--set <schema>', 'JSON, @<file>, or null, which removes it')
    .option('--propose', 'one that a sample of the records fits; sets nothing')
    .option('--report', 'how many records do not fit; the first call begins to count')
    .action(async (project: string, name: string, options: SchemaOptions, command: Command) => {
      const target = await findTarget(command);
      const path = projectPath(project, '/collections');
      const one = `${path}/${encodeURIComponent(name)}`;
      if (options.report) {
        const report = await call<object>(target, 'GET', `${one}/schema-report`);
        printRows(command, [report], ['state', 'checked', 'unfit', 'problems']);
        return;
      }
      if (options.propose) {
        const { schema } = await call<{ schema: object }>(
          target,
          'POST',
          `${one}/schema-from-records`,
        );
        print(schema);
        return;
      }
      if (options.set !== undefined) {
        const schema = await readSchema(options.set);
        print((await call<{ schema: unknown }>(target, 'PUT', one, { schema })).schema);
        return;
      }
      const { items } = await call<{ items: { name: string; schema: unknown }[] }>(
        target,
        'GET',
        path,
      );
      print(items.find((collection) => collection.name === name)?.schema ?? null);
    });
};
