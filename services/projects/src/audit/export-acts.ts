import { type AuditLine, auditRoutes } from '@backlot/contract';
import type { JsonParts, Position } from '@backlot/http';
import type { AuditFilter, createListActs, Reader } from './list-acts.ts';

export type ExportFormat = 'ndjson' | 'csv';

export const fileTypes: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
};

const linesAtOnce = 100;

const columns = [
  'id',
  'at',
  'ownerId',
  'seq',
  'service',
  'action',
  'projectId',
  'target',
  'address',
  'userAgent',
  'requestId',
  'before',
  'after',
  'erased',
  'hash',
] as const;
const ofActor = ['kind', 'userId', 'keyId', 'keyName', 'operator', 'memberRole'] as const;

/** What begins so is a formula to programs for tables. */
const isFormula = /^[=+\-@\t\r]/;

const toCell = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = typeof value === 'string' && isFormula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const csvHead = [...columns, ...ofActor.map((name) => `actor.${name}`)].join(',');

const toCsv = (line: AuditLine): string =>
  [...columns.map((name) => line[name]), ...ofActor.map((name) => line.actor[name])]
    .map(toCell)
    .join(',');

/** The log as a file, read as its caller takes it. */
export const exportActs = (
  { batch }: Pick<ReturnType<typeof createListActs>, 'batch'>,
  reader: Reader,
  filter: AuditFilter,
  format: ExportFormat,
): JsonParts => {
  let after: Position | undefined;
  let left: number = auditRoutes.mostExportedLines;
  let isFirst = true;
  const toText = format === 'csv' ? toCsv : (line: AuditLine) => JSON.stringify(line);
  return {
    async next() {
      if (left === 0) return undefined;
      const { lines, last } = await batch(reader, filter, after, Math.min(linesAtOnce, left));
      after = last;
      left = lines.length < linesAtOnce ? 0 : left - lines.length;
      const head = isFirst && format === 'csv' ? `${csvHead}\r\n` : '';
      isFirst = false;
      const end = format === 'csv' ? '\r\n' : '\n';
      const text = head + lines.map((line) => toText(line) + end).join('');
      return text === '' ? undefined : text;
    },
    close() {},
  };
};
