import { writePolicySql } from '../../collections/access.ts';
import { freeFieldsSql } from '../../collections/field-rules.ts';
import { isCurrentSql } from '../../collections/stored/slots.ts';
import { and, inCollection, matchesId, nextVersionSql, type Parameters } from '../../sql.ts';
import { toIso } from '../../timestamps.ts';
import { uncountableSql } from '../patch.ts';
import type { Change, Creation, Deletion, NewRecord, Permission, Update } from './change.ts';
import {
  addEdits,
  admitsAfterSql,
  documentSql,
  type EditsSql,
  matchesEdit,
  withinBounds,
} from './edits-sql.ts';
import { addRows, type Column } from './given-rows.ts';
import { sideColumns, sideConditions } from './side-effects.ts';

const matchesIds = `${inCollection} AND id = ANY ($3::uuid[])`;
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
  const where = and([isCurrentSql(collection, parameters), ...sideConditions(change, parameters)]);
  return `INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data${group.names}${index.names})
    SELECT $1, $2, ${from ? 'made.row_id' : '$3::uuid'}, ${owner}, ${created}, ${updated_at}, ${data}${group.values}${index.values}
    ${from ? `FROM ${from} ` : ''}WHERE ${where}${isIdChosen ? ' ON CONFLICT DO NOTHING' : ''}`;
};

/** Which rows the caller may change or delete so. */
const permissionSql = (
  { access, action, versions }: Permission,
  parameters: Parameters,
): (string | undefined)[] => [
  writePolicySql(access, action, parameters),
  versions && `updated_at = ANY (${parameters.add(versions.map(toIso), 'timestamptz[]')})`,
];

/** Which records are changed. */
const editedSql = (
  { collection, names, by, skipsLocked }: Update,
  edits: EditsSql,
  parameters: Parameters,
): string =>
  and([
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

/** The fields as a change would leave them, of each record that it would change: `id` and `result`, a document. */
export const resultsSql = (
  change: Update,
  fields: readonly string[],
  parameters: Parameters,
): string => {
  const edits = addEdits(change, parameters);
  const document = documentSql(change, edits, parameters);
  const names = parameters.add(fields, 'text[]');
  return `SELECT records.id, (SELECT jsonb_object_agg(name, document -> name) FROM unnest(${names}) name WHERE document ? name) AS result
    FROM records${edits.from ? `, ${edits.from}` : ''}, LATERAL (SELECT ${document} AS document OFFSET 0) made
    WHERE ${editedSql(change, edits, parameters)}`;
};

const updateSql = (change: Update, parameters: Parameters): string => {
  const { now, skipsLocked } = change;
  const edits = addEdits(change, parameters);
  const document = documentSql(change, edits, parameters);
  const index = sideColumns(change, document, edits.owner, parameters);
  const time = parameters.add(toIso(now), 'timestamptz');
  const owner = edits.owner === undefined ? [] : [{ column: 'owner_id', value: edits.owner }];
  const assigned = [...owner, ...index]
    .map(({ column, value }) => `, ${column} = ${value}`)
    .join('');
  const set = `UPDATE records SET data = ${document}${assigned}, updated_at = ${nextVersionSql(time)}`;
  const edited = editedSql(change, edits, parameters);
  if (!edits.from) {
    const after = admitsAfterSql(change, edits, document, parameters);
    return `${set} WHERE ${withinBounds(change, and([edited, after]), document, parameters)}`;
  }
  const where = withinBounds(change, edited, document, parameters);
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
