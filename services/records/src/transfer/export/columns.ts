import { ApiError } from '@backlot/contract';
import { keyProblem } from '../../fields.ts';
import { maxNameLength } from '../../shape/infer-fields.ts';
import type { Document } from '../../shape/sample.ts';
import { ownColumns, restColumn } from '../cells.ts';

const maxColumns = 200;

/**
 * Reads the query parameter `fields` of an export; the id comes first.
 * @throws ApiError invalid_query
 */
export const parseColumns = (text: string | undefined): readonly string[] | undefined => {
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => name === '' || keyProblem(name) !== undefined);
  if (wrong !== undefined)
    throw new ApiError('invalid_query', '"fields" needs names of fields, as in fields=title,done');
  const columns = [...new Set(['id', ...names])];
  if (columns.length > maxColumns)
    throw new ApiError('invalid_query', `"fields" may have at most ${maxColumns} names`);
  return columns;
};

/**
 * The columns for records like these: those that most of them have come first. What a later record has beside them
 * goes into the last one.
 */
export const columnsOf = (documents: readonly Document[], hasGroups: boolean): string[] => {
  const counts = new Map<string, number>();
  for (const document of documents)
    for (const name of Object.keys(document)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const own = ownColumns.filter((name) => hasGroups || name !== 'groupId');
  const reserved = new Set<string>([...own, restColumn]);
  const found = [...counts]
    .filter(([name]) => !reserved.has(name) && name.length <= maxNameLength)
    .sort(([a, some], [b, others]) => others - some || (a < b ? -1 : 1))
    .map(([name]) => name);
  return [...own, ...found.slice(0, maxColumns - reserved.size), restColumn];
};
