import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Collection } from '../collections/collections.ts';
import type { Place } from '../collections/forbidden.ts';
import { matchesId, startParameters } from '../sql.ts';
import type { Update } from './change/change.ts';
import { addEdits, documentSql, tooLargeSql } from './change/edits-sql.ts';
import type { CheckedData } from './data.ts';
import { type LimitedPlace, limitHint } from './limited-creates.ts';

const tooLarge = (place: Place, bytes: number, maxBytes: number): ApiError =>
  new ApiError(
    'limit_reached',
    `This record would have ${bytes} bytes, and in ${JSON.stringify(place.collection.name)} one may have ${maxBytes}.`,
    { hint: limitHint(place, 'maxBytes') },
  );

/** Of a new record. @throws ApiError limit_reached */
export const checkNewSize = (place: LimitedPlace, { sizeBytes }: CheckedData): void => {
  const { maxBytes = Number.POSITIVE_INFINITY } = place.collection.limits ?? {};
  if (sizeBytes > maxBytes) throw tooLarge(place, sizeBytes, maxBytes);
};

/** Whether a change of one record has made it too large. @throws ApiError limit_reached */
export const checkChangedSize = async (
  database: Database,
  place: Place & { collection: Collection; id: string },
  change: Update,
): Promise<void> => {
  const { maxBytes } = change;
  if (maxBytes === undefined) return;
  const parameters = startParameters(place.collection, place.id);
  const document = documentSql(change, addEdits(change, parameters), parameters);
  const [row] = await database.query<{ bytes: number }>(
    `SELECT octet_length((${document})::text) AS bytes FROM records
     WHERE ${matchesId} AND ${tooLargeSql(document, maxBytes, parameters)}`,
    parameters.values,
  );
  if (row) throw tooLarge(place, row.bytes, maxBytes);
};
