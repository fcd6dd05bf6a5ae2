import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { callText, findTarget } from '../api.ts';

export const addTypes = (program: Command): void => {
  program
    .command('types <project>')
    .description('The collections as TypeScript, for createClient<Project>()')
    .option('--out <file>', 'where to write them; else they are printed')
    .action(async (project: string, { out }: { out?: string }, command: Command) => {
      const path = `/api/runtime/${encodeURIComponent(project)}/types.d.ts`;
      const text = await callText(await findTarget(command), 'GET', path);
      if (out === undefined) process.stdout.write(text);
      else await writeFile(out, text);
    });
};
