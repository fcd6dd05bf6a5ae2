import type { Command } from 'commander';
import { call, findTarget } from '../api.ts';
import { printRows } from '../output.ts';
import { addRecordExport, addRecordImport, collectionPath } from './record-lines.ts';

interface Deleted {
  count: number;
  nextCursor: string | null;
  dryRun?: true;
  approximate?: true;
}

export const addRecords = (program: Command): void => {
  const records = program
    .command('records')
    .description('Delete, export and import records of a project');
  records
    .command('delete <project> <collection> <where>')
    .description(`Delete those that fit a filter, such as '{"done":true}', for good`)
    .option('--dry-run', 'only count them')
    .action(
      async (
        project: string,
        collection: string,
        where: string,
        { dryRun }: { dryRun?: true },
        command: Command,
      ) => {
        const target = await findTarget(command);
        const path = collectionPath(project, collection);
        const query = new URLSearchParams({ where, ...(dryRun && { dryRun: '1' }) });
        let count = 0;
        for (;;) {
          const { nextCursor, ...part } = await call<Deleted>(target, 'DELETE', `${path}?${query}`);
          count += part.count;
          if (nextCursor === null)
            return printRows(command, [{ ...part, count }], Object.keys(part));
          query.set('cursor', nextCursor);
        }
      },
    );
  addRecordExport(records);
  addRecordImport(records);
};
