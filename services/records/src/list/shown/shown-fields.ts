import { ApiError } from '@backlot/contract';
import type { JsonParts } from '@backlot/http';
import { keyProblem } from '../../fields.ts';

/** docs/api.md, "Lists". */
const maxShownFields = 50;

export type JsonRecord = { [key: string]: unknown };

/**
 * Reads the query parameter `fields`: names of top-level fields; the id is always shown.
 * @throws ApiError invalid_query
 */
export const parseFields = (text: string | undefined): ReadonlySet<string> | undefined => {
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  if (names.some((name) => name === ''))
    throw new ApiError('invalid_query', '"fields" needs names of fields, as in fields=title,done');
  const impossible = names.find((name) => keyProblem(name) !== undefined);
  if (impossible !== undefined)
    throw new ApiError(
      'invalid_query',
      `"fields": no record has a field ${JSON.stringify(impossible.slice(0, 100))}`,
      {
        hint: 'It names fields at the top of a record: fields=address shows all that is inside of it.',
      },
    );
  if (names.length > maxShownFields)
    throw new ApiError('invalid_query', `"fields" may have at most ${maxShownFields} names`);
  return new Set(['id', ...names]);
};

export const showFields = (record: JsonRecord, fields: ReadonlySet<string>): JsonRecord =>
  Object.fromEntries(Object.entries(record).filter(([name]) => fields.has(name)));

/** Inside of a JSON array: records with commas between them. */
const showInside = (records: string, fields: ReadonlySet<string>): string =>
  (JSON.parse(`[${records}]`) as JsonRecord[])
    .map((record) => JSON.stringify(showFields(record, fields)))
    .join(',');

/** Leaves out what was read and not asked for, part by part where the page is large. */
export const showPartFields = (parts: JsonParts, fields: ReadonlySet<string>): JsonParts => ({
  async next() {
    const part = await parts.next();
    return part === undefined ? undefined : showInside(part.toString(), fields);
  },
  close: () => parts.close(),
});
