import { createReadStream, createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CallFailed, findTarget } from '../api.ts';
import { exportRecords } from '../export-records.ts';
import { importRecords } from '../import-records.ts';
import { newId } from '../new-id.ts';
import { printRows } from '../output.ts';

type Format = 'ndjson' | 'csv';

const formatOption = () =>
  new Option('--format <format>', 'csv where the file is named so').choices(['ndjson', 'csv']);

const findFormat = (said: Format | undefined, file: string | undefined): Format =>
  said ?? (file?.toLowerCase().endsWith('.csv') ? 'csv' : 'ndjson');

export const collectionPath = (project: string, collection: string): string =>
  `/api/runtime/${encodeURIComponent(project)}/db/${encodeURIComponent(collection)}`;

const parseLine = (text: string): number => {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is the number of a line.');
};

interface ExportOptions {
  format?: Format;
  where?: string;
  fields?: string;
  out?: string;
}

export const addRecordExport = (records: Command): void => {
  records
    .command('export <project> <collection>')
    .description('All records, a line each, oldest first')
    .addOption(formatOption())
    .option('--where <filter>', `those that fit, such as '{"done":true}'`)
    .option('--fields <names>', 'these fields alone; of CSV the columns')
    .option('--out <file>', 'where to write them; else they are printed')
    .action(
      async (
        project: string,
        collection: string,
        { format, where, fields, out }: ExportOptions,
        command: Command,
      ) => {
        const query = new URLSearchParams({
          format: findFormat(format, out),
          ...(where && { where }),
          ...(fields && { fields }),
        });
        const path = `${collectionPath(project, collection)}/_export`;
        const target = await findTarget(command);
        if (out === undefined) return exportRecords(target, path, query, process.stdout);
        const file = createWriteStream(out);
        await exportRecords(target, path, query, file);
        await finished(file.end());
      },
    );
};

interface ImportOptions {
  format?: Format;
  import?: string;
  from: number;
  types?: string;
  idField?: string;
  dropUnknownOwners?: true;
  dryRun?: true;
}

export const addRecordImport = (records: Command): void => {
  records
    .command('import <project> <collection> <file>')
    .description('Make records of the lines of a file; - is what is piped in')
    .addOption(formatOption())
    .option('--import <id>', 'go on with the import of this name: what is done is not done again')
    .option('--from <line>', 'lines before it were done', parseLine, 1)
    .option('--types <json>', `of columns of CSV, such as '{"zip":"text"}'`)
    .option('--id-field <name>', 'the field that keeps ids which are no UUIDv7')
    .option('--drop-unknown-owners', 'records of who is no user here become nobody’s')
    .option('--dry-run', 'read and check the lines, and write nothing')
    .action(
      async (
        project: string,
        collection: string,
        file: string,
        options: ImportOptions,
        command: Command,
      ) => {
        const name = options.import ?? newId();
        const { types, idField, from } = options;
        if (from > 1 && !options.import)
          throw new CallFailed('--from goes on with an import.', 'Name it by --import.');
        const query = new URLSearchParams({
          format: findFormat(options.format, file),
          import: name,
          ...(types && { types }),
          ...(idField && { idField }),
          ...(options.dropUnknownOwners && { unknownOwners: 'drop' }),
          ...(options.dryRun && { dryRun: '1' }),
        });
        const source: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file);
        const path = `${collectionPath(project, collection)}/_import`;
        process.stderr.write(`If it breaks off: --import ${name}\n`);
        const target = await findTarget(command);
        const done = await importRecords(target, path, query, source, from);
        printRows(command, [done], ['import', 'created', 'skipped', 'failed']);
        if (done.failed > 0) process.exitCode = 1;
      },
    );
};
