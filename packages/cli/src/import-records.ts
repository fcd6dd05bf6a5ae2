import { CallFailed, call, patiently, type Target } from './api.ts';
import { readParts } from './line-parts.ts';
import { plain } from './output.ts';

export interface ImportedPart {
  created: number;
  skipped: number;
  failed: { line: number; code: string; error: string }[];
  failedCount: number;
  next: number | null;
  stopped?: { code: string; error: string; hint?: string };
  types?: Record<string, string>;
}

export interface ImportTotals {
  import: string;
  created: number;
  skipped: number;
  failed: number;
  types?: Record<string, string>;
}

const contentTypes = { ndjson: 'application/x-ndjson', csv: 'text/csv' };

/**
 * Sends the lines of a file part by part, each again until it is done, and prints those that fail.
 * @param query names the import and its format @param from lines before it were done
 * @throws CallFailed that says how to go on
 */
export const importRecords = async (
  target: Target,
  path: string,
  query: URLSearchParams,
  source: AsyncIterable<Buffer>,
  from: number,
): Promise<ImportTotals> => {
  const name = query.get('import') ?? '';
  const isCsv = query.get('format') === 'csv';
  const headers = { 'content-type': contentTypes[isCsv ? 'csv' : 'ndjson'] };
  const totals: ImportTotals = { import: name, created: 0, skipped: 0, failed: 0 };
  let header: Buffer | undefined;

  const add = ({ created, skipped, failed, failedCount, types }: ImportedPart): void => {
    totals.created += created;
    totals.skipped += skipped;
    totals.failed += failedCount;
    for (const { line, code, error } of failed)
      process.stderr.write(`line ${line}: ${plain(error)} (${code})\n`);
    if (!types) return;
    totals.types = types;
    // So that a column is the same in all parts.
    query.set('types', JSON.stringify(types));
  };

  const sendPart = async (bytes: Buffer, firstLine: number, start: number): Promise<void> => {
    query.set('firstLine', String(firstLine));
    for (let next: number | null = start; next !== null; ) {
      query.set('from', String(next));
      const goOn = `Go on with --import ${name} --from ${next}`;
      const send = () => call<ImportedPart>(target, 'POST', `${path}?${query}`, bytes, headers);
      const done = await patiently(send).catch((error: unknown) => {
        if (!(error instanceof CallFailed)) throw error;
        throw new CallFailed(error.message, [error.hint, goOn].filter(Boolean).join('\n'));
      });
      add(done);
      const { stopped } = done;
      if (stopped)
        throw new CallFailed(
          `line ${done.next}: ${stopped.error}`,
          `${stopped.hint ? `${stopped.hint}\n` : ''}Go on with --import ${name} --from ${done.next}`,
        );
      next = done.next;
    }
  };

  for await (const { bytes, firstLine, next } of readParts(source, isCsv)) {
    if (isCsv && !header) {
      header = bytes;
      continue;
    }
    if (next <= from) continue;
    const body = header ? Buffer.concat([header, bytes]) : bytes;
    await sendPart(body, firstLine, Math.max(from, firstLine));
  }
  return totals;
};
