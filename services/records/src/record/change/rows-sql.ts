import { writePolicySql } from '../../collections/access.ts';
import {
  type ChangedFields,
  type ChangedFieldsSql,
  freeFieldsSql,
  keptFieldsSql,
} from '../../collections/field-rules.ts';
import { isCurrentSql } from '../../collections/stored/slots.ts';
import { and, inCollection, matchesId, nextVersionSql, type Parameters } from '../../sql.ts';
import { toIso } from '../../timestamps.ts';
import { mergedSql, noNumberSql, sumsSql, uncountableSql } from '../patch.ts';
import type { Change, Creation, Deletion, Edit, NewRecord, Permission, Update } from './change.ts';
import { addRows, type Column } from './given-rows.ts';
import { sideColumns, sideGrowthSql } from './side-effects.ts';

const matchesIds = `${inCollection} AND id = ANY ($3::uuid[])`;
/** Their ids are named twice: where collections are small, a plan for all would read the whole of one and join it. */
export const matchesEdit = `${inCollection} AND records.id = ANY ($3::uuid[]) AND records.id = change.id`;

const newColumns: readonly Column<NewRecord>[] = [
  { name: 'owner_id', type: 'uuid', value: ({ ownerId }) => ownerId },
  { name: 'created_at', type: 'timestamptz', value: ({ createdAt }) => createdAt },
  { name: 'data', type: 'jsonb', value: ({ dataJson }) => dataJson },
];
const updatedColumn: Column<NewRecord> = {
  name: 'updated_at',
  type: 'timestamptz',
  value: ({ updatedAt, createdAt }) => updatedAt ?? createdAt,
};
const groupColumn: Column<NewRecord> = {
  name: 'group_id',
  type: 'uuid',
  value: ({ groupId }) => groupId ?? null,
};

const noColumns = { names: '', values: '' };

const insertSql = (change: Creation, parameters: Parameters): string => {
  const { collection, records, isIdChosen } = change;
  const columns = [...newColumns];
  if (records.some(({ updatedAt }) => updatedAt !== undefined)) columns.push(updatedColumn);
  if (records.some(({ groupId }) => groupId !== undefined)) columns.push(groupColumn);
  const { found, from } = addRows(records, columns, 'made', parameters);
  const { owner_id: owner, data = '', created_at: created, updated_at = created, group_id } = found;
  const group = group_id ? { names: ', group_id', values: `, ${group_id}` } : noColumns;
  const index = { ...noColumns };
  for (const { column, value } of sideColumns(change, data, owner, parameters)) {
    index.names += `, ${column}`;
    index.values += `, ${value}`;
  }
  return `INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data${group.names}${index.names})
    SELECT $1, $2, ${from ? 'made.id' : '$3::uuid'}, ${owner}, ${created}, ${updated_at}, ${data}${group.values}${index.values}
    ${from ? `FROM ${from} ` : ''}WHERE ${isCurrentSql(collection, parameters)}${isIdChosen ? ' ON CONFLICT DO NOTHING' : ''}`;
};

/** Edits as parts of a statement. */
interface EditsSql extends ChangedFieldsSql {
  /** The table of several, `change`. */
  from: string | undefined;
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
const unsetColumn: Column<Edit> = { name: 'unset', type: 'text[]', value: ({ unset }) => unset };
const unsetJsonColumn: Column<Edit> = {
  name: 'unset',
  type: 'jsonb',
  value: ({ unset }) => JSON.stringify(unset),
};

export const addEdits = (
  { edits, how, skipsLocked }: Pick<Update, 'edits' | 'how' | 'skipsLocked'>,
  parameters: Parameters,
  isTable = edits.length !== 1,
): EditsSql => {
  const columns = [givenColumn];
  if (skipsLocked)
    columns.push({ name: 'user_id', type: 'uuid', value: (_, n) => skipsLocked.userIds[n] });
  if (edits.some(({ inc }) => Object.keys(inc).length > 0)) columns.push(incColumn);
  if (edits.some((edit) => edit.unset.length > 0))
    columns.push(isTable ? unsetJsonColumn : unsetColumn);
  const { found, from } = addRows(edits, columns, 'change', parameters, isTable);
  const { given = '', inc, unset: gone } = found;
  const unset = gone && isTable ? `ARRAY(SELECT jsonb_array_elements_text(${gone}))` : gone;
  const result = how === 'merge-deep' ? `records.merge_patch(records.data, ${given})` : given;
  const merged = how === 'merge' ? mergedSql(given) : result;
  const summed = inc ? `${merged} || ${sumsSql(inc)}` : merged;
  return {
    from,
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

/** Which rows the caller may change or delete so. */
const permissionSql = (
  { access, action, versions }: Permission,
  parameters: Parameters,
): (string | undefined)[] => [
  writePolicySql(access, action, parameters),
  versions && `updated_at = ANY (${parameters.add(versions.map(toIso), 'timestamptz[]')})`,
];

/** What `where` matches, unless the record and what is kept beside it would grow by more than there is room for. */
const withinRoom = (
  change: Update,
  where: string,
  document: string,
  parameters: Parameters,
): string => {
  const roomBytes = change.by?.roomBytes;
  if (roomBytes === undefined) return where;
  const sides = sideGrowthSql(change, document, parameters);
  const growth = [`octet_length((${document})::text) - size_bytes`, ...sides].join(' + ');
  return `${where} AND CASE WHEN ${where} THEN ${growth} <= ${parameters.add(roomBytes, 'int8')} ELSE false END`;
};

const updateSql = (change: Update, parameters: Parameters): string => {
  const { collection, how, names, now, by, skipsLocked } = change;
  const edits = addEdits(change, parameters);
  const kept = how === 'replace' && by ? keptFieldsSql(by.access, parameters) : undefined;
  const document = kept ? `(${edits.document} || ${kept})` : edits.document;
  const index = sideColumns(change, document, undefined, parameters);
  const time = parameters.add(toIso(now), 'timestamptz');
  const assigned = index.map(({ column, value }) => `, ${column} = ${value}`).join('');
  const set = `UPDATE records SET data = ${document}${assigned}, updated_at = ${nextVersionSql(time)}`;
  const where = and([
    edits.from ? matchesEdit : matchesId,
    ...(by ? permissionSql(by, parameters) : []),
    by?.action === 'count'
      ? `${uncountableSql(by.access, edits.inc, parameters)} IS NULL`
      : undefined,
    by && freeFieldsSql(by.access, { names, sql: () => edits }, parameters),
    edits.condition,
    skipsLocked && `size_bytes <= ${skipsLocked.maxBytes}`,
    isCurrentSql(collection, parameters),
  ]);
  if (!edits.from) return `${set} WHERE ${withinRoom(change, where, document, parameters)}`;
  if (!skipsLocked) return `${set} FROM ${edits.from} WHERE ${where}`;
  // Beside what changes them, Citus would fail to carry what is locked from one part of the statement to the next.
  return `WITH free AS (
      SELECT change.* FROM ${edits.from}, records WHERE ${where} FOR NO KEY UPDATE OF records SKIP LOCKED)
    ${set} FROM free change WHERE ${matchesEdit}`;
};

const deleteSql = ({ collection, ids, by }: Deletion, parameters: Parameters): string => {
  const where = and([
    ids.length === 1 ? matchesId : matchesIds,
    ...(by ? permissionSql(by, parameters) : []),
    isCurrentSql(collection, parameters),
  ]);
  return `DELETE FROM records WHERE ${where}`;
};

/** What writes the rows of `records`, up to RETURNING. Where what is kept beside them has changed, it writes none. */
export const rowsSql = (change: Change, parameters: Parameters): string => {
  switch (change.kind) {
    case 'create':
      return insertSql(change, parameters);
    case 'update':
      return updateSql(change, parameters);
    case 'delete':
      return deleteSql(change, parameters);
  }
};
