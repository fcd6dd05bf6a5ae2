import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { CallFailed, call, findTarget, type GlobalOptions, type Target } from '../api.ts';
import { plain } from '../output.ts';
import { projectPath } from '../pages.ts';

interface Plan {
  etag: string;
  changes: { action: string; text: string }[];
}

/** As `terraform plan -detailed-exitcode` says that there are changes. */
const changesExitCode = 2;

const configPath = (project: string, query = '') => projectPath(project, `/config${query}`);

/** @throws CallFailed */
const readConfig = async (file: string): Promise<unknown> => {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new CallFailed(`${file} can not be read.`);
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CallFailed(`${file} is no JSON.`, error instanceof Error ? error.message : '');
  }
};

const findPlan = (target: Target, project: string, config: unknown): Promise<Plan> =>
  call(target, 'PUT', configPath(project, '?dryRun=1'), config);

const signs: Record<string, string> = { create: '+', change: '~', delete: '-', left: ' ' };

const changesSomething = ({ changes }: Plan) => changes.some(({ action }) => action !== 'left');

const printPlan = (command: Command, plan: Plan): void => {
  const { stdout } = process;
  if (command.optsWithGlobals<GlobalOptions>().json) {
    stdout.write(`${JSON.stringify(plan, null, 2)}\n`);
    return;
  }
  for (const { action, text } of plan.changes)
    stdout.write(`${signs[action] ?? ' '} ${plain(text)}\n`);
  if (!changesSomething(plan)) stdout.write('Nothing changes.\n');
};

/** @throws CallFailed where nobody can be asked */
const ask = async (): Promise<boolean> => {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) throw new CallFailed('Nobody can be asked here.', 'Pass --yes to apply it.');
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(es)?$/i.test(await lines.question('Apply this? [y/N] '));
  } finally {
    lines.close();
  }
};

const addExport = (program: Command): void => {
  program
    .command('export <project>')
    .description('What its owner has set, as one file: collections, settings, prompts, products')
    .option('--out <file>', 'where to write it; else it is printed')
    .action(async (project: string, { out }: { out?: string }, command: Command) => {
      const config = await call<object>(await findTarget(command), 'GET', configPath(project));
      const text = `${JSON.stringify(config, null, 2)}\n`;
      if (out === undefined) process.stdout.write(text);
      else await writeFile(out, text);
    });
};

const addPlan = (program: Command): void => {
  program
    .command('plan <project> <file>')
    .description('What a file would change')
    .option('--detailed-exitcode', `end with ${changesExitCode} where it would change something`)
    .action(
      async (
        project: string,
        file: string,
        { detailedExitcode }: { detailedExitcode?: true },
        command: Command,
      ) => {
        const plan = await findPlan(await findTarget(command), project, await readConfig(file));
        printPlan(command, plan);
        if (detailedExitcode && changesSomething(plan)) process.exitCode = changesExitCode;
      },
    );
};

const addApply = (program: Command): void => {
  program
    .command('apply <project> <file>')
    .description('Apply a file: all of it, or nothing')
    .option('--yes', 'without asking')
    .action(async (project: string, file: string, { yes }: { yes?: true }, command: Command) => {
      const target = await findTarget(command);
      const config = await readConfig(file);
      const plan = await findPlan(target, project, config);
      if (!yes || !changesSomething(plan)) printPlan(command, plan);
      if (!changesSomething(plan) || !(yes || (await ask()))) return;
      // What was shown, and nothing that came in between.
      const headers = { 'if-match': plan.etag };
      const done = await call<Plan>(target, 'PUT', configPath(project), config, headers);
      if (yes) printPlan(command, done);
    });
};

export const addConfig = (program: Command): void => {
  for (const add of [addExport, addPlan, addApply]) add(program);
};
