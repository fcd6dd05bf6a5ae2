import { inCollection, type Parameters } from '../sql.ts';
import { type Access, checkRead } from './access.ts';
import { fieldRefused, type Place, quotedField } from './forbidden.ts';
import type { FieldLimit } from './rules.ts';
import { rowPolicySql, termSql } from './terms/policy-sql.ts';
import { hasConditions, policyKey, type RowPolicy, termKey, termsIn } from './terms/terms.ts';

/** The bit that is set for every record; there are never so many terms. */
const anyRecord = 2 ** 30;

/** Sets of terms as numbers, so that the text of a statement does not grow with the rules. */
const numberTerms = (policies: readonly RowPolicy[]) => {
  const terms = termsIn(policies);
  const bits = new Map(terms.map((term, i) => [termKey(term), 2 ** i]));
  const toBits = (policy: RowPolicy): number => {
    if (policy === 'none') return 0;
    if (policy === 'all') return anyRecord;
    return policy.reduce((sum, term) => sum | (bits.get(termKey(term)) ?? 0), 0);
  };
  return { terms, toBits };
};

/** The terms of these limits that hold for a row, as a number, and the limits as rows `rule(field, words)`. */
const heldTermsSql = (
  access: Access,
  limits: readonly FieldLimit[],
  parameters: Parameters,
): { held: string; toRows(limits: readonly FieldLimit[]): string } => {
  const { terms, toBits } = numberTerms(limits.map(({ policy }) => policy));
  const bits = terms.map(
    (term) => `CASE WHEN ${termSql(term, access, parameters)} THEN ${toBits([term])} ELSE 0 END`,
  );
  const held = [anyRecord, ...bits].join(' | ');
  return {
    // A filter is asked once for a record, and not for each field.
    held: access.permissions.hasConditions ? `(SELECT ${held})` : `(${held})`,
    toRows: (limits) => limitsSql(limits, toBits, parameters),
  };
};

/** Fields with the terms under which they are free, as the rows `rule(field, words)`. */
const limitsSql = (
  limits: readonly FieldLimit[],
  toBits: (policy: RowPolicy) => number,
  parameters: Parameters,
): string => {
  const fields = parameters.add(
    limits.map(({ field }) => field),
    'text[]',
  );
  const words = parameters.add(
    limits.map(({ policy }) => toBits(policy)),
    'int[]',
  );
  return `unnest(${fields}, ${words}) rule(field, words)`;
};

/**
 * The document as the caller may see it, over the columns of `records`. A field that they may not see is
 * missing. `data` where all are free.
 */
export const visibleDataSql = (access: Access, parameters: Parameters): string => {
  const { hidden } = access.fields;
  return hidden.length === 0 ? 'data' : `(data - ${limitedFieldsSql(access, hidden, parameters)})`;
};

/** The fields that these limits keep from the caller in a record, over the columns of `records`: text[]. */
export const limitedFieldsSql = (
  access: Access,
  limits: readonly FieldLimit[],
  parameters: Parameters,
): string => {
  const kept = groupByPolicy(limits).map(({ policy, fields }) => {
    const all = parameters.add(fields, 'text[]');
    if (policy === 'none') return all;
    return `CASE WHEN ${rowPolicySql(policy, access, parameters)} THEN '{}' ELSE ${all} END`;
  });
  return kept.length === 0 ? `'{}'::text[]` : `(${kept.join(' || ')})`;
};

/** Fields with the same policy: a row is tested once for all of them. */
const groupByPolicy = (limits: readonly FieldLimit[]) =>
  [...Map.groupBy(limits, ({ policy }) => policyKey(policy)).values()].map((limits) => ({
    policy: limits[0]?.policy ?? 'none',
    fields: limits.map(({ field }) => field),
  }));

/**
 * What reads select from: the table, or where fields are hidden the table without them, so that conditions and sort keys
 * see no more than the reader does. In a kept statement the size is the whole document's: it only decides whether another
 * one answers.
 */
export const visibleRecordsSql = (
  { access }: { access: Access },
  parameters: Parameters,
): string => {
  if (access.fields.hidden.length === 0) return 'records';
  const data = visibleDataSql(access, parameters);
  const size = access.isAnyone ? 'size_bytes' : `octet_length(${data}::text) AS size_bytes`;
  const readable = asksWholeRecord(access)
    ? `, ${rowPolicySql(access.rights.read, access, parameters)} AS ${readableColumn}`
    : '';
  return `(SELECT project_id, coll_id, id, owner_id, group_id, created_at, updated_at, ${size}, ${data} AS data${readable} FROM records WHERE ${inCollection}) records`;
};

const readableColumn = 'is_readable';

/** Whether it may be a hidden field that decides who reads a record. */
const asksWholeRecord = ({ fields, rights }: Access): boolean =>
  fields.hidden.length > 0 && hasConditions(rights.read);

/** What `visibleRecordsSql` has beside the columns of `records`, with a comma before it. */
export const readableColumns = ({ access }: { access: Access }): string =>
  asksWholeRecord(access) ? `, ${readableColumn}` : '';

/** Whether the caller reads a row of `visibleRecordsSql`; undefined where they read all. */
export const readableSql = (access: Access, parameters: Parameters): string | undefined =>
  asksWholeRecord(access) ? readableColumn : rowPolicySql(access.rights.read, access, parameters);

/** The fields that a change names, each part as an expression. */
export interface ChangedFieldsSql {
  /** Those that it sets: jsonb. */
  given: string;
  /** A document that has the values which they get: jsonb. */
  result: string;
  /** Those that it takes out: text[]. */
  unset: string;
  /** Those that it adds to: jsonb. */
  inc: string;
}

export interface ChangedFields {
  names(field: string): boolean;
  sql(parameters: Parameters): ChangedFieldsSql;
}

/**
 * The first field that the caller may not change as they want to, null where there is none; undefined
 * where there can't be any. To set a field to the value that it has is no change, unless it is hidden:
 * the answer would tell the value.
 */
export const refusedFieldSql = (
  access: Access,
  { names, sql }: ChangedFields,
  parameters: Parameters,
): string | undefined => {
  const hidden = access.fields.hidden.filter(({ field }) => names(field));
  const frozen = access.fields.frozen.filter(({ field }) => names(field));
  const limits = [...hidden, ...frozen];
  if (limits.length === 0) return undefined;
  const { given, result, unset, inc } = sql(parameters);
  const { held, toRows } = heldTermsSql(access, limits, parameters);
  const isNamed = `(${given} ? field OR field = ANY (${unset}) OR ${inc} ? field)`;
  const changes = `(${inc} ? field OR field = ANY (${unset}) AND records.data ? field
    OR ${given} ? field AND (${result} -> field) IS DISTINCT FROM (records.data -> field))`;
  const refusals = [
    hidden.length > 0 &&
      `SELECT field FROM ${toRows(hidden)} WHERE words & ${held} = 0 AND ${isNamed}`,
    frozen.length > 0 &&
      `SELECT field FROM ${toRows(frozen)} WHERE words & ${held} = 0 AND ${isNamed} AND ${changes}`,
  ].filter((refusal) => refusal !== false);
  return `(SELECT field FROM (${refusals.join(' UNION ALL ')}) refused LIMIT 1)`;
};

/** Holds where the caller may change the fields as they want to; undefined where they always may. */
export const freeFieldsSql = (
  access: Access,
  fields: ChangedFields,
  parameters: Parameters,
): string | undefined => {
  const refused = refusedFieldSql(access, fields, parameters);
  return refused && `${refused} IS NULL`;
};

/** The fields of a record that stay when it is replaced by one without them; undefined where none does. */
export const keptFieldsSql = (access: Access, parameters: Parameters): string | undefined => {
  const { hidden, frozen } = access.fields;
  const limits = [...hidden, ...frozen];
  if (limits.length === 0) return undefined;
  const { held, toRows } = heldTermsSql(access, limits, parameters);
  return `coalesce((SELECT jsonb_object_agg(field, records.data -> field) FROM ${toRows(limits)}
    WHERE words & ${held} = 0 AND records.data ? field), '{}')`;
};

/**
 * Where a field is hidden in every record, asking for it is a mistake; where the record decides, it is
 * missing in those that hide it.
 * @param part of the call: the query parameter that names the fields
 * @param paths of the fields that a list or count asks for
 * @throws ApiError unauthenticated, forbidden
 */
export const checkVisible = (
  access: Access,
  part: string,
  paths: Iterable<string>,
  place: Place,
): void => {
  checkRead(access);
  const hidden = access.fields.hidden.filter(({ policy }) => policy === 'none');
  if (hidden.length === 0) return;
  for (const path of paths) {
    const [field = ''] = path.split('.');
    if (!hidden.some((limit) => limit.field === field)) continue;
    const message = `"${part}": the field ${quotedField(field)} is hidden from you.`;
    throw fieldRefused(access, message, place);
  }
};
