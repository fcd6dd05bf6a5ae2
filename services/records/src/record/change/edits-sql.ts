import {
  type ChangedFields,
  type ChangedFieldsSql,
  keptFieldsSql,
} from '../../collections/field-rules.ts';
import { policyAfterSql } from '../../collections/terms/policy-sql.ts';
import { conditionFields } from '../../collections/terms/terms.ts';
import { isSystemField } from '../../fields.ts';
import { inCollection, type Parameters } from '../../sql.ts';
import { mergedSql, noNumberSql, sumsSql } from '../patch.ts';
import type { Edit, Update } from './change.ts';
import { addRows, type Column } from './given-rows.ts';
import { sideGrowthSql } from './side-effects.ts';

/** Their ids are named twice: where collections are small, a plan for all would read the whole of one and join it. */
export const matchesEdit = `${inCollection} AND records.id = ANY ($3::uuid[]) AND records.id = change.row_id`;

/** Edits as parts of a statement. */
export interface EditsSql extends ChangedFieldsSql {
  /** The table of several, `change`. */
  from: string | undefined;
  /** Whose the record becomes; undefined where that stays. */
  owner: string | undefined;
  /** What becomes of `records.data`. */
  document: string;
  /** Under which that can be computed. */
  condition: string | undefined;
}

const givenColumn: Column<Edit> = { name: 'given', type: 'jsonb', value: (edit) => edit.dataJson };
const incColumn: Column<Edit> = {
  name: 'inc',
  type: 'jsonb',
  value: ({ inc }) => JSON.stringify(inc),
};
const ownerColumn: Column<Edit> = {
  name: 'owner_id',
  type: 'uuid',
  value: ({ ownerId }) => ownerId,
};
const unsetColumn: Column<Edit> = { name: 'unset', type: 'text[]', value: ({ unset }) => unset };
const unsetJsonColumn: Column<Edit> = {
  name: 'unset',
  type: 'jsonb',
  value: ({ unset }) => JSON.stringify(unset),
};

export const addEdits = (
  {
    edits,
    how,
    skipsLocked,
    changesOwner,
  }: Pick<Update, 'edits' | 'how' | 'skipsLocked' | 'changesOwner'>,
  parameters: Parameters,
  isTable = edits.length !== 1,
): EditsSql => {
  const columns = [givenColumn];
  if (skipsLocked)
    columns.push({ name: 'user_id', type: 'uuid', value: (_, n) => skipsLocked.userIds[n] });
  if (edits.some(({ inc }) => Object.keys(inc).length > 0)) columns.push(incColumn);
  if (edits.some((edit) => edit.unset.length > 0))
    columns.push(isTable ? unsetJsonColumn : unsetColumn);
  if (changesOwner) columns.push(ownerColumn);
  const { found, from } = addRows(edits, columns, 'change', parameters, isTable);
  const { given = '', inc, unset: gone } = found;
  const unset = gone && isTable ? `ARRAY(SELECT jsonb_array_elements_text(${gone}))` : gone;
  const result = how === 'merge-deep' ? `records.merge_patch(records.data, ${given})` : given;
  const merged = how === 'merge' ? mergedSql(given) : result;
  const summed = inc ? `${merged} || ${sumsSql(inc)}` : merged;
  return {
    from,
    owner: found.owner_id,
    given,
    result,
    document: unset ? `((${summed}) - ${unset})` : `(${summed})`,
    unset: unset ?? `'{}'::text[]`,
    inc: inc ?? `'{}'::jsonb`,
    condition: inc && `NOT ${noNumberSql(inc)}`,
  };
};

/** What an edit of one record does with fields, for whoever may do so. */
export const editedFields = (update: Update): ChangedFields => ({
  names: update.names,
  sql: (parameters) => addEdits(update, parameters),
});

/** The document that an update makes, with the fields that the caller may not take out by replacing it. */
export const documentSql = (
  { how, by }: Update,
  { document }: EditsSql,
  parameters: Parameters,
): string => {
  const kept = how === 'replace' && by ? keptFieldsSql(by.access, parameters) : undefined;
  return kept ? `(${document} || ${kept})` : document;
};

/** Whether it may make something of a record to which the rule does not admit the caller. */
const mayLeaveRule = ({ how, names, by }: Update): boolean => {
  const asked = by ? conditionFields(by.access.rights[by.action]) : [];
  const changing = asked.filter((field) => !isSystemField(field));
  return changing.some((path) => how === 'replace' || names(path.split('.')[0] ?? path));
};

/** Whether the rule admits the caller to what an update of one record makes; undefined where it does in any case. */
export const admitsAfterSql = (
  update: Update,
  { condition = 'true' }: EditsSql,
  document: string,
  parameters: Parameters,
): string | undefined => {
  const { by } = update;
  if (!by || !mayLeaveRule(update)) return undefined;
  const after = policyAfterSql(by.access.rights[by.action], document, by.access, parameters);
  return `CASE WHEN ${condition} THEN ${after} END`;
};

/** The same in a statement that only asks. */
export const editAdmittedSql = (update: Update, parameters: Parameters): string | undefined => {
  if (!mayLeaveRule(update)) return undefined;
  const edits = addEdits(update, parameters);
  return admitsAfterSql(update, edits, documentSql(update, edits, parameters), parameters);
};

/** Holds where a document is larger than it may be, and than it was. */
export const tooLargeSql = (document: string, maxBytes: number, parameters: Parameters): string =>
  `octet_length((${document})::text) > greatest(${parameters.add(maxBytes, 'int8')}, size_bytes)`;

/** What `where` matches, unless the record, or what is kept beside it, would be larger than there is room for. */
export const withinBounds = (
  change: Update,
  where: string,
  document: string,
  parameters: Parameters,
): string => {
  const { maxBytes } = change;
  const roomBytes = change.by?.roomBytes;
  const bounds: string[] = [];
  if (roomBytes !== undefined) {
    const sides = sideGrowthSql(change, document, parameters);
    const growth = [`octet_length((${document})::text) - size_bytes`, ...sides].join(' + ');
    bounds.push(`${growth} <= ${parameters.add(roomBytes, 'int8')}`);
  }
  if (maxBytes !== undefined) bounds.push(`NOT ${tooLargeSql(document, maxBytes, parameters)}`);
  if (bounds.length === 0) return where;
  return `${where} AND CASE WHEN ${where} THEN ${bounds.join(' AND ')} ELSE false END`;
};
