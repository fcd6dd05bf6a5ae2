import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import type { JsonPart, JsonParts } from '@backlot/http';
import { checkRead } from '../../collections/access.ts';
import { oldestFirst } from '../../list/deletions.ts';
import { createLargePages, inLines } from '../../list/shown/large-pages.ts';
import { type JsonRecord, showFields } from '../../list/shown/shown-fields.ts';
import { usualPieceBounds, usualPieceBytes } from '../../list/walk-pieces.ts';
import { type FoundInPiece, findInPiece, type Kept } from '../../query/piece-statement.ts';
import type { Selection } from '../../query/selection.ts';
import type { Reader } from '../../reader.ts';
import { sampleRecords, shapeBounds } from '../../shape/sample.ts';
import { columnsOf } from './columns.ts';
import { csvHeader, csvRows } from './csv-lines.ts';

/** Records that one statement looks at: more, the longer none of them fits. */
const fewestRows = 1000;
const mostRows = 16_000;
/** Of documents that are read before it is looked at anew what the caller may read. */
const pageBytes = 2 * 1024 * 1024;
/** An empty line says that the search goes on, so that nobody takes the answer for dead. */
const silentMs = 5000;
/** Whoever takes longer goes on with another call: the caller's rights are those of its beginning. */
const longestMs = 15 * 60_000;

export interface ExportOptions {
  format: 'ndjson' | 'csv';
  /** Undefined shows all fields. */
  columns: readonly string[] | undefined;
  /** The id behind which it begins. */
  after: string | undefined;
}

export interface Exports {
  /**
   * The records of a selection, a line each, part by part.
   * @param select asked before each part, so that what the caller may read is looked at anew
   * @throws ApiError unauthenticated; as `select` does; FairShareFull
   */
  open(select: () => Promise<Selection>, options: ExportOptions, reader: Reader): JsonParts;
}

/** How many of them are read together, one at least. */
const fitting = (kept: readonly Kept[]): number => {
  let bytes = 0;
  const beyond = kept.findIndex(([, size], n) => {
    bytes += size;
    return n > 0 && bytes > pageBytes;
  });
  return beyond === -1 ? kept.length : beyond;
};

export interface ExportsDeps {
  database: Database;
  scans: FairShares;
  largeReads: FairShares;
  answers: FairShares;
  silentMs?: number;
}

interface Found {
  kept: readonly Kept[];
  /** Null where all were looked at. */
  next: string | null;
}

export const createExports = (deps: ExportsDeps): Exports => {
  const { database, scans } = deps;
  const openLargePage = createLargePages(deps);

  const look = (
    selection: Selection,
    { from, after }: { from: string | undefined; after: string | undefined },
    rows: number,
    { requester, signal }: Reader,
  ) => {
    const position = after === undefined ? undefined : { keys: [], id: after };
    const query = { ...selection, sort: oldestFirst, limit: rows, offset: 0, after: position };
    const piece = { from, rows, bytes: usualPieceBytes, ms: usualPieceBounds.pieceMs };
    const { text, values } = findInPiece(query, piece, rows);
    const scan = () => database.scan<FoundInPiece>(text, values);
    return scans.run(requester, scan, { signal });
  };

  const findColumns = (selection: Selection, { requester, signal }: Reader) =>
    scans.run(
      requester,
      async (yieldSlot) => {
        const documents = await sampleRecords(database, selection, shapeBounds, yieldSlot);
        return columnsOf(documents, selection.access.compiled.uses.group);
      },
      { signal },
    );

  /** Finds ids by and by, in the order of the primary key. */
  async function* find(select: () => Promise<Selection>, options: ExportOptions, reader: Reader) {
    const untilMs = performance.now() + longestMs;
    let rows = fewestRows;
    let from: string | undefined;
    for (;;) {
      const selection = await select();
      checkRead(selection.access);
      if (selection.access.rights.read === 'none') return;
      const [piece] = await look(selection, { from, after: options.after }, rows, reader);
      const { next = null, kept = [] } = piece ?? {};
      yield { kept, next } satisfies Found;
      if (next === null) return;
      if (performance.now() > untilMs)
        throw new ApiError('timeout', 'The export has taken too long; go on with "after".');
      from = next;
      rows = kept.length > 0 ? fewestRows : Math.min(mostRows, 2 * rows);
    }
  }

  const toLines = (
    part: JsonPart,
    format: ExportOptions['format'],
    columns: readonly string[] | undefined,
  ): JsonPart => {
    if (columns === undefined) return part;
    const lines = part.toString().trimEnd().split('\n');
    const records = lines.map((line) => JSON.parse(line) as JsonRecord);
    if (format === 'csv') return csvRows(records, columns);
    const shown = new Set(columns);
    return records.map((record) => `${JSON.stringify(showFields(record, shown))}\n`).join('');
  };

  return {
    open(select, options, reader) {
      const { format } = options;
      let { columns } = options;
      let page: JsonParts | undefined;
      let left: Kept[] = [];
      let isBegun = false;
      let hasPages = false;
      const found = find(select, options, reader);
      let toldAt = performance.now();

      const begin = async () => {
        isBegun = true;
        if (format === 'ndjson') return undefined;
        const selection = await select();
        checkRead(selection.access);
        columns ??= await findColumns(selection, reader);
        return csvHeader(columns);
      };

      const openPage = async (kept: readonly Kept[]) => {
        const [ids, sizes] = [kept.map(([id]) => id), kept.map(([, size]) => size)];
        const opened = openLargePage(await select(), { ids, sizes }, reader, inLines, hasPages);
        hasPages = true;
        return opened;
      };

      const nextPart = async (): Promise<JsonPart | undefined> => {
        const header = isBegun ? undefined : await begin();
        if (header !== undefined) return header;
        for (;;) {
          const part = await page?.next();
          if (part !== undefined) return toLines(part, format, columns);
          page = undefined;
          if (left.length > 0) {
            page = await openPage(left.splice(0, fitting(left)));
            continue;
          }
          const { value, done } = await found.next();
          if (done) return undefined;
          left = [...value.kept];
          if (left.length === 0 && performance.now() - toldAt > (deps.silentMs ?? silentMs))
            return format === 'csv' ? '\r\n' : '\n';
        }
      };

      return {
        async next() {
          const part = await nextPart();
          toldAt = performance.now();
          return part;
        },
        close: () => page?.close(),
      };
    },
  };
};
