import { archiveLines } from '@backlot/contract';
import { type ArchiveStore, readArchiveLines, toArchiveLines } from '@backlot/service';
import type { Collections } from '../collections/collections.ts';
import { checkRuleFilters } from '../collections/terms/check-filters.ts';
import type { LogReach } from '../undo/log-reach.ts';

/** With rules of the largest size they are 2 MiB. */
const pageRows = 50;

/** Collections as a project's archive has them; what else is set of one stands in the config. */
export const createCollectionsArchive = (
  collections: Collections,
  reach: LogReach,
): ArchiveStore => ({
  async read({ project, after, asOfMs }) {
    if (asOfMs !== undefined) await reach.check(project.number, asOfMs, 'asOf');
    const made = await collections.listMade(project.number, after ?? '', pageRows + 1);
    return toArchiveLines(
      made,
      pageRows,
      (line) => line,
      ({ name }) => name,
    );
  },
  async take({ project }, lines) {
    for (const line of readArchiveLines(archiveLines.collection, lines)) {
      checkRuleFilters(line.access);
      await collections.make({ ...project, name: '', settings: {} }, line);
    }
  },
});
