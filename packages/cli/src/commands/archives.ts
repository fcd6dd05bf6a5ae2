import { createReadStream, createWriteStream } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { CallFailed, findTarget, openCall } from '../api.ts';
import { plain } from '../output.ts';
import { projectPath } from '../pages.ts';

interface Made {
  project: { id: string };
  left: { entry: string; reason: string }[];
}

interface Included {
  files?: true;
  passwords?: true;
}

const longestCopyMs = 6 * 60_000;
const longestImportMs = 24 * 60 * 60_000;

const printMade = ({ project, left }: Made): void => {
  process.stdout.write(`${project.id}\n`);
  for (const { entry, reason } of left)
    process.stderr.write(`Left out ${plain(entry)}: ${plain(reason)}\n`);
};

/** Whole under its name, or not there. @throws CallFailed */
const writeWhole = async (body: ReadableStream<Uint8Array>, file: string): Promise<void> => {
  const part = `${file}.part`;
  try {
    await pipeline(Readable.fromWeb(body), createWriteStream(part));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw new CallFailed('The archive broke off.', error instanceof Error ? error.message : '');
  }
};

const addArchive = (program: Command): void => {
  program
    .command('archive <project> <file>')
    .description('Write all of a project into a tar: users, records, config, what files there are')
    .option('--files', 'with the files')
    .option('--passwords', 'with the hashes of passwords')
    .action(
      async (project: string, file: string, { files, passwords }: Included, command: Command) => {
        const query = new URLSearchParams({
          ...(files && { files: '1' }),
          ...(passwords && { passwords: '1' }),
        });
        const path = projectPath(project, `/export?${query}`);
        const { body } = await openCall(await findTarget(command), 'GET', path);
        if (body) await writeWhole(body, file);
      },
    );
};

const addRestore = (program: Command): void => {
  program
    .command('restore <file>')
    .description('Make a project from such a tar; prints its id')
    .option('--name <name>', 'unless its former one')
    .action(async (file: string, { name }: { name?: string }, command: Command) => {
      await access(file).catch(() => {
        throw new CallFailed(`${file} can not be read.`);
      });
      const query = new URLSearchParams({ ...(name !== undefined && { name }) });
      const path = `/api/platform/projects/import?${query}`;
      const body = Readable.toWeb(createReadStream(file));
      const headers = { 'content-type': 'application/x-tar' };
      const target = await findTarget(command);
      const response = await openCall(target, 'POST', path, body, headers, longestImportMs);
      printMade((await response.json()) as Made);
    });
};

const addCopy = (program: Command): void => {
  program
    .command('copy <project> <name>')
    .description('Make a project with the same config; prints its id')
    .option('--records', 'with the users and records')
    .option('--files', 'with the files')
    .option('--passwords', 'users of the copy sign in as they do here')
    .action(
      async (
        project: string,
        name: string,
        included: Included & { records?: true },
        command: Command,
      ) => {
        const target = await findTarget(command);
        const path = projectPath(project, '/copy');
        const body = { name, ...included };
        const response = await openCall(target, 'POST', path, body, {}, longestCopyMs);
        printMade((await response.json()) as Made);
      },
    );
};

export const addArchives = (program: Command): void => {
  for (const add of [addArchive, addRestore, addCopy]) add(program);
};
