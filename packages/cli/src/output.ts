import type { Command } from 'commander';
import type { GlobalOptions } from './api.ts';

/** Nothing that was stored may move the cursor or colour the terminal. */
export const plain = (value: unknown): string =>
  toText(value).replace(/[\p{Cc}\p{Bidi_Control}]/gu, '');

const toText = (value: unknown): string => {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
};

/** Rows below their names, in columns; or as JSON where that was asked for. */
export const printRows = (
  command: Command,
  rows: readonly object[],
  columns: readonly string[],
): void => {
  if (command.optsWithGlobals<GlobalOptions>().json) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  const lines = [
    [...columns],
    ...rows.map((row) => columns.map((column) => plain((row as Record<string, unknown>)[column]))),
  ];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  for (const line of lines) {
    const cells = line.map((cell, at) => cell.padEnd(widths[at] ?? 0));
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
  }
};
