import { ApiError, isUuid } from '@backlot/contract';
import { type Database, violatedConstraint } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { Access } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import { type ChangedFields, refusedFieldSql } from '../collections/field-rules.ts';
import {
  changedForbidden,
  changeForbidden,
  countForbidden,
  fieldForbidden,
  recordNotFound,
  type WriteAction,
} from '../collections/forbidden.ts';
import { toNotUnique } from '../collections/stored/claims.ts';
import type { UniqueField } from '../collections/stored/unique-keys.ts';
import { rowPolicySql } from '../collections/terms/policy-sql.ts';
import { idHint } from '../query/hints.ts';
import { matchesId, type Parameters, startParameters, versionSql } from '../sql.ts';
import { maxDataBytes, maxKeys } from './data.ts';
import { uncountableSql } from './patch.ts';

/** A record that a path names, and what the caller may do with it. */
export interface RecordTarget {
  project: Identity['project'];
  collection: Collection;
  access: Access;
  /** As the path has it; it need not be a valid id. */
  id: string;
}

/** @throws ApiError not_found for what is no id */
export const checkId = ({ collection, id }: RecordTarget): void => {
  if (!isUuid(id)) throw recordNotFound(idHint(collection.name, id));
};

/** @throws ApiError not_found for what is no id */
export const targetParameters = (target: RecordTarget): Parameters => {
  checkId(target);
  return startParameters(target.collection, target.id);
};

/** The versions that a change accepts; undefined accepts any. */
export type AcceptedVersions = readonly number[] | undefined;

interface RefusalRow {
  readable: boolean | null;
  changeable: boolean | null;
  version: number;
  refused_field: string | null;
  no_number: string | null;
  uncountable: string | null;
  admits_after: boolean | null;
}

/** What a change asks for, of which each part may have been refused. */
export interface Reasons {
  action: WriteAction;
  versions?: AcceptedVersions;
  inc?: Readonly<Record<string, number>>;
  fields?: ChangedFields;
  /** Whether the rule admits to what becomes of the record; undefined where it does in any case. */
  admitsAfter?(parameters: Parameters): string | undefined;
}

/**
 * Finds out why a change matched no row. Returns where by now it would match one.
 * @throws ApiError not_found, unauthenticated, forbidden, precondition_failed, invalid_data
 */
export const explainRefusal = async (
  database: Database,
  target: RecordTarget,
  { action, versions, inc = {}, fields, admitsAfter }: Reasons,
): Promise<void> => {
  const { collection, access, id } = target;
  const parameters = startParameters(collection, id);
  const readable = rowPolicySql(access.rights.read, access, parameters) ?? 'true';
  const changeable = rowPolicySql(access.rights[action], access, parameters) ?? 'true';
  const refused = fields && refusedFieldSql(access, fields, parameters);
  const added = parameters.add(JSON.stringify(inc), 'jsonb');
  const uncountable = action === 'count' ? uncountableSql(access, added, parameters) : 'NULL';
  const after = admitsAfter?.(parameters) ?? 'true';
  const [row] = await database.query<RefusalRow>(
    `SELECT ${readable} AS readable, ${changeable} AS changeable, ${versionSql} AS version,
       ${refused ?? 'NULL'} AS refused_field,
       (SELECT field FROM jsonb_object_keys(${added}) field WHERE jsonb_typeof(data -> field) <> 'number' LIMIT 1) AS no_number,
       ${uncountable} AS uncountable, ${after} AS admits_after
     FROM records WHERE ${matchesId}`,
    parameters.values,
  );
  if (!row?.readable) throw recordNotFound();
  if (!row.changeable) throw changeForbidden(access, target, action);
  if (row.refused_field !== null) throw fieldForbidden(access, row.refused_field, target);
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
  if (row.uncountable !== null) throw countForbidden(access, row.uncountable, target);
  if (row.admits_after === false) throw changedForbidden(access, target, action);
};

/** Whether there is such a record, and the caller may not read it. */
export const isHidden = async (
  database: Database,
  { collection, access, id }: RecordTarget,
): Promise<boolean> => {
  const parameters = startParameters(collection, id);
  const readable = rowPolicySql(access.rights.read, access, parameters) ?? 'true';
  const hidden = `SELECT FROM records WHERE ${matchesId} AND (${readable}) IS NOT TRUE`;
  return (await database.query(hidden, parameters.values)).length > 0;
};

/** PostgreSQL's manual, Appendix A. */
const NUMERIC_VALUE_OUT_OF_RANGE = '22003';

/**
 * The limits that only the merged document can exceed are checked by the table.
 * @param unique the fields of the collection whose values are claimed
 */
export const translateWriteError = (error: unknown, unique: readonly UniqueField[]): unknown => {
  const invalid = (message: string) => new ApiError('invalid_data', message, { cause: error });
  const constraint = violatedConstraint(error);
  if (constraint === 'records_size') {
    return invalid(`The record would be larger than ${maxDataBytes} bytes.`);
  }
  if (constraint === 'records_keys') {
    return invalid(`The record would have more than ${maxKeys} keys in all.`);
  }
  if (constraint === 'unique_values_pkey') return toNotUnique(error, unique);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === NUMERIC_VALUE_OUT_OF_RANGE
    ? invalid('inc: the sum is too large for a number.')
    : error;
};
