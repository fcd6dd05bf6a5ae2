import { ApiError } from '@backlot/contract';
import { type Database, violatedConstraint } from '@backlot/database';
import { type Access, changeRefused, reachSql, recordNotFound } from './access.ts';
import type { Collection } from './collections.ts';
import { maxDataBytes, maxKeys } from './data.ts';
import { versionOf } from './record-text.ts';
import { inCollection, startParameters } from './statement.ts';

/** A record and who wants it. */
export interface Target {
  collection: Collection;
  access: Access;
  /** As it stands in the path; what is no id names nothing. */
  id: string;
}

/** The versions that a change accepts; undefined accepts any. */
export type AcceptedVersions = readonly number[] | undefined;

interface Reasons {
  readable: boolean | null;
  changeable: boolean | null;
  version: number;
  no_number: string | null;
}

/**
 * Finds out why a change met no row. Returns where by now it would meet one.
 * @throws ApiError not_found, unauthenticated, forbidden, precondition_failed, invalid_data
 */
export const explainRefusal = async (
  database: Database,
  { collection, access, id }: Target,
  versions: AcceptedVersions,
  inc: Readonly<Record<string, number>>,
): Promise<void> => {
  const parameters = startParameters(collection, id);
  const readable = reachSql(access.rights.read, access.userId, parameters) ?? 'true';
  const changeable = reachSql(access.rights.change, access.userId, parameters) ?? 'true';
  const fields = parameters.add(Object.keys(inc), 'text[]');
  const [row] = await database.query<Reasons>(
    `SELECT ${readable} AS readable, ${changeable} AS changeable, ${versionOf} AS version,
       (SELECT field FROM unnest(${fields}) field WHERE jsonb_typeof(data -> field) <> 'number' LIMIT 1) AS no_number
     FROM records WHERE ${inCollection} AND id = $3`,
    parameters.values,
  );
  if (!row?.readable) throw recordNotFound();
  if (!row.changeable) throw changeRefused(access);
  if (versions && !versions.includes(row.version)) {
    throw new ApiError(
      'precondition_failed',
      'The record has changed since the version in If-Match.',
    );
  }
  if (row.no_number !== null) {
    throw new ApiError(
      'invalid_data',
      `inc: the field ${JSON.stringify(row.no_number)} is not a number.`,
    );
  }
};

/** Of PostgreSQL's manual, Appendix A. */
const NUMERIC_VALUE_OUT_OF_RANGE = '22003';

/** What a merge or a sum makes too large shows only in the table. */
export const translateWriteError = (error: unknown): unknown => {
  const refused = (message: string) => new ApiError('invalid_data', message, { cause: error });
  const constraint = violatedConstraint(error);
  if (constraint === 'records_size') {
    return refused(`The record would be larger than ${maxDataBytes} bytes.`);
  }
  if (constraint === 'records_keys') {
    return refused(`The record would have more than ${maxKeys} keys in all.`);
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === NUMERIC_VALUE_OUT_OF_RANGE
    ? refused('inc: the sum is too large for a number.')
    : error;
};
