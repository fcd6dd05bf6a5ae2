import type { Access } from '../collections/access.ts';
import { limitedFieldsSql } from '../collections/field-rules.ts';
import { rowPolicySql } from '../collections/terms/policy-sql.ts';
import { bringsBackSql } from '../record/change/log-sql.ts';
import type { RecordTarget } from '../record/refusals.ts';
import { epochMsSql, type Parameters, startParameters } from '../sql.ts';
import { idTimeMs, toIso } from '../timestamps.ts';

/** Entries of the log that belong to this collection: numbers of erased ones are used again. */
const entriesSql = `FROM changes JOIN collections own ON own.project_id = $1 AND own.coll_id = $2 AND changes.changed_at >= own.created_at
    WHERE changes.project_id = $1 AND changes.coll_id = $2 AND changes.record_id = $3 AND ${bringsBackSql('changes')}`;

/** Begins a statement on a record, whose parameters are project, collection and id. */
export const startRecord = ({ collection, id }: Pick<RecordTarget, 'collection' | 'id'>) =>
  startParameters(collection, id.toLowerCase());

/** What the record was before each of its changes, with the columns of `records`. Creates are not among them. */
export const pastRecordsSql = (
  { id }: Pick<RecordTarget, 'id'>,
  parameters: Parameters,
  condition = 'true',
  end = '',
): string =>
  `(SELECT changes.project_id, changes.coll_id, record_id AS id, old_owner AS owner_id, old_group AS group_id,
      ${parameters.add(toIso(idTimeMs(id)), 'timestamptz')} AS created_at, old_updated_at AS updated_at, old_data AS data,
      old_size AS size_bytes, seq, kind, ${epochMsSql('changed_at')} AS changed_ms, actor, request_id, old_shares
    ${entriesSql} AND ${condition} ${end}) records`;

/** Of one entry of a record. */
export const isEntrySql = (seq: number, parameters: Parameters): string =>
  `seq = ${parameters.add(seq, 'int8')}`;

/** Where a record is gone, the log knows with whom it was shared. */
export const formerSharesSql = (
  sharedWith: readonly string[] | undefined,
  parameters: Parameters,
): string =>
  sharedWith === undefined
    ? ''
    : `WITH shares AS (SELECT $1::int8 AS project_id, $2::int4 AS coll_id, $3::uuid AS record_id, user_id, 'read' AS may
         FROM unnest(${parameters.add(sharedWith, 'uuid[]')}) user_id) `;

/** What rules say of a row to a caller. */
export const judgedSql = (access: Access, parameters: Parameters): string => {
  const { rights, fields } = access;
  const test = (policy: typeof rights.read) => rowPolicySql(policy, access, parameters) ?? 'true';
  return `(${test(rights.read)}) IS TRUE AS readable, (${test(rights.change)}) IS TRUE AS changeable,
    ${limitedFieldsSql(access, fields.hidden, parameters)} AS hidden,
    ${limitedFieldsSql(access, fields.frozen, parameters)} AS frozen`;
};
