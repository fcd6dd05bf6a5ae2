import { ApiError } from '@backlot/contract';
import { inCollection, type Parameters } from '../sql.ts';
import { type Access, checkRead, type Place, recordWordSql, rowPolicySql } from './access.ts';
import { type FieldLimit, type RecordWord, type RowPolicy, recordWords } from './rules.ts';

/** A set of words as a number, so that the text of a statement does not grow with the rules. */
const toBits = (policy: RowPolicy): number => {
  if (policy === 'none') return 0;
  if (policy === 'all') return anyRecord;
  return policy.reduce((bits, word) => bits | (1 << recordWords.indexOf(word)), 0);
};
/** The bit that is set for every record. */
const anyRecord = 1 << recordWords.length;

/** The words of these policies that hold for a row, as a number. */
const heldWordsSql = (
  access: Access,
  policies: readonly RowPolicy[],
  parameters: Parameters,
): string => {
  const isUsed = (word: RecordWord) =>
    policies.some((policy) => typeof policy !== 'string' && policy.includes(word));
  const bits = recordWords
    .filter(isUsed)
    .map(
      (word) =>
        `CASE WHEN ${recordWordSql(word, access, parameters)} THEN ${toBits([word])} ELSE 0 END`,
    );
  return `(${[anyRecord, ...bits].join(' | ')})`;
};

/** Fields with the words under which they are free, as the rows `rule(field, words)`. */
const limitsSql = (limits: readonly FieldLimit[], parameters: Parameters): string => {
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

const toPolicies = (limits: readonly FieldLimit[]) => limits.map(({ policy }) => policy);

/**
 * The document as the caller may see it, over the columns of `records`. A field that they may not see is
 * missing. `data` where all are free.
 */
export const visibleDataSql = (access: Access, parameters: Parameters): string => {
  const { hidden } = access.fields;
  if (hidden.length === 0) return 'data';
  const left = groupByPolicy(hidden).map(({ policy, fields }) => {
    const all = parameters.add(fields, 'text[]');
    if (policy === 'none') return all;
    return `CASE WHEN ${rowPolicySql(policy, access, parameters)} THEN '{}' ELSE ${all} END`;
  });
  return `(data - (${left.join(' || ')}))`;
};

/** Fields with the same policy: a row is tested once for all of them. */
const groupByPolicy = (hidden: readonly FieldLimit[]) =>
  [...Map.groupBy(hidden, ({ policy }) => toBits(policy)).values()].map((limits) => ({
    policy: limits[0]?.policy ?? 'none',
    fields: limits.map(({ field }) => field),
  }));

/**
 * What reads select from: the table, or where fields are hidden the table without them. Conditions and
 * sort keys see no more of a record than its reader does. The size in a statement that is kept is the whole
 * document's, which takes a third of the work: it only decides whether another statement answers.
 */
export const visibleRecordsSql = (
  { access }: { access: Access },
  parameters: Parameters,
): string => {
  if (access.fields.hidden.length === 0) return 'records';
  const data = visibleDataSql(access, parameters);
  const size = access.isAnyone ? 'size_bytes' : `octet_length(${data}::text) AS size_bytes`;
  return `(SELECT project_id, coll_id, id, owner_id, group_id, created_at, updated_at, ${size}, ${data} AS data FROM records WHERE ${inCollection}) records`;
};

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
  /** Whether the change names the field at all. */
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
  const held = heldWordsSql(access, toPolicies(limits), parameters);
  const isNamed = `(${given} ? field OR field = ANY (${unset}) OR ${inc} ? field)`;
  const changes = `(${inc} ? field OR field = ANY (${unset}) AND records.data ? field
    OR ${given} ? field AND (${result} -> field) IS DISTINCT FROM (records.data -> field))`;
  const refusals = [
    hidden.length > 0 &&
      `SELECT field FROM ${limitsSql(hidden, parameters)} WHERE words & ${held} = 0 AND ${isNamed}`,
    frozen.length > 0 &&
      `SELECT field FROM ${limitsSql(frozen, parameters)} WHERE words & ${held} = 0 AND ${isNamed} AND ${changes}`,
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
  const held = heldWordsSql(access, toPolicies(limits), parameters);
  return `coalesce((SELECT jsonb_object_agg(field, records.data -> field) FROM ${limitsSql(limits, parameters)}
    WHERE words & ${held} = 0 AND records.data ? field), '{}')`;
};

const refuse = (access: Access, message: string, { project, collection }: Place) =>
  new ApiError(access.userId === null ? 'unauthenticated' : 'forbidden', message, {
    hint: `A rule in "fields" of the collection "${collection.name}" says so; the project’s owner sets it by PUT /api/platform/projects/${project.id}/collections/${collection.name} {"access": …}.`,
  });

const quoted = (field: string) => JSON.stringify(field.slice(0, 100));

export const fieldForbidden = (access: Access, field: string, place: Place): ApiError =>
  refuse(access, `You may not change the field ${quoted(field)}.`, place);

interface NewFields {
  has(field: string): boolean;
  groupId?: string | null | undefined;
}

/** Which words hold for a record that the caller makes. */
const holdsForNew = (
  { userId, groupIds }: Access,
  word: RecordWord,
  groupId: string | null,
): boolean => {
  if (word === 'group') return groupId !== null && groupIds.includes(groupId);
  return userId === null ? word === 'ownerless' : word === 'owner';
};

/** A new record's JSON as its maker may see it: a field that is hidden from them is missing. */
export const visibleNewJson = (
  access: Access,
  { json, has, groupId = null }: NewFields & { json: string },
): string => {
  const hidden = access.fields.hidden.filter(
    ({ field, policy }) =>
      has(field) &&
      (policy === 'none' || !policy.some((word) => holdsForNew(access, word, groupId))),
  );
  if (hidden.length === 0) return json;
  const left = new Set(hidden.map(({ field }) => field));
  const data: object = JSON.parse(json);
  return JSON.stringify(
    Object.fromEntries(Object.entries(data).filter(([field]) => !left.has(field))),
  );
};

/** @throws ApiError unauthenticated, forbidden where a new record has a field that it may not */
export const checkNewFields = (
  access: Access,
  { has, groupId = null }: NewFields,
  place: Place,
): void => {
  for (const { field, policy } of access.fields.notGiven) {
    const mayGive = policy !== 'none' && policy.some((word) => holdsForNew(access, word, groupId));
    if (mayGive || !has(field)) continue;
    throw refuse(access, `You may not give the field ${quoted(field)} in a new record.`, place);
  }
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
    throw refuse(access, `"${part}": the field ${quoted(field)} is hidden from you.`, place);
  }
};
