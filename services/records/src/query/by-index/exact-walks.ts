import { epochSql, type Slot, slotColumn } from '../../collections/stored/slots.ts';
import { inCollection, isoTimeSql, maxPipelinedBytes, recordJsonSql } from '../../sql.ts';
import { type ListQuery, type ReadLimits, recordColumns } from '../list-statement.ts';
import type { NamedStatement } from '../prepared/kept-statements.ts';
import { maxPipelinedLimit, ownFieldsBytes } from '../prepared/small-lists.ts';
import { directionSql } from '../sort.ts';
import { isCutKeySql } from './branches.ts';
import { type ExactWalk, exactWalk } from './drivers.ts';
import { isWholeKey, type KeyBound } from './key-ranges.ts';

interface ExactWalkStatement extends NamedStatement {
  slot: Slot;
}

/** What makes one text; there are fewer than 300. */
interface Shape {
  column: string;
  descending: boolean;
  /** Of the lower bound and the upper one; none for all keys. */
  signs: readonly KeyBound['sign'][];
  isAfter: boolean;
  isSorted: boolean;
  hasMarkers: boolean;
}

const signNames = { '>': 'gt', '>=': 'ge', '<': 'lt', '<=': 'le' };

const shapeName = ({ column, descending, signs, isAfter, isSorted, hasMarkers }: Shape): string => {
  const bounds = signs.map((sign) => `_${signNames[sign]}`).join('');
  const start = `records_walk_${column}_${descending ? 'desc' : 'asc'}${bounds}`;
  const parts = `${isAfter ? '_after' : ''}${isSorted ? '_sorted' : ''}${hasMarkers ? '_markers' : ''}`;
  return `${start}${parts}`;
};

/**
 * `$3` is the page's limit, then come the keys of the bounds, then key and id of the cursor. The result's columns
 * are `items`, `more`, the last record's id and key, and the epoch. `items` is null where the documents are more
 * than the pipelined connections carry, where a key is cut, or where an array or object may pass too.
 * Its limits are those of `smallListText`, for the same reason.
 */
const walkText = (shape: Shape, mostBytes: number): string => {
  const { column, descending, signs, isAfter, isSorted, hasMarkers } = shape;
  const direction = directionSql(descending);
  const bounds = signs.map((sign, i) => ` AND ${column} ${sign} $${i + 4}::jsonb`).join('');
  const next = signs.length + 4;
  const after = `(${column}, id) ${descending ? '<' : '>'} ($${next}::jsonb, $${next + 1}::uuid)`;
  const conditions = [
    `bytes + rows * ${ownFieldsBytes} <= ${mostBytes}`,
    ...(isSorted ? ['NOT has_cut_keys'] : []),
    ...(hasMarkers
      ? [`NOT EXISTS (SELECT FROM records WHERE ${inCollection} AND ${column} = '[]')`]
      : []),
  ];
  return `WITH page AS MATERIALIZED (
      SELECT * FROM (SELECT * FROM (
        SELECT ${recordColumns}, ${column} AS slot_key FROM records
        WHERE ${inCollection}${bounds || ` AND ${column} IS NOT NULL`}${isAfter ? ` AND ${after}` : ''}
        ORDER BY ${column} ${direction}, id ${direction} LIMIT ${maxPipelinedLimit} + 1) page LIMIT $3::int + 1) page LIMIT $3::int + 1),
    found AS (
      SELECT count(*) AS rows, coalesce(sum(size_bytes), 0) AS bytes, array_agg(id) AS ids
        ${isSorted ? `, array_agg(slot_key) AS keys, coalesce(bool_or(${isCutKeySql}), false) AS has_cut_keys` : ''} FROM page),
    shown AS (SELECT *, ${isoTimeSql('created_at')} AS created FROM page LIMIT $3)
    SELECT CASE WHEN ${conditions.join(' AND ')}
        THEN (SELECT '[' || coalesce(string_agg(${recordJsonSql('created')}, ','), '') || ']' FROM shown) END,
      rows > $3, ids[least(rows, $3)], ${isSorted ? 'keys[least(rows, $3)]' : 'NULL'}, ${epochSql} AS epoch FROM found`;
};

const startKey = ({ after }: ListQuery, { bounds, isSorted }: ExactWalk): string | undefined => {
  if (!isSorted) return bounds[0]?.key;
  const key = after?.keys[0];
  return key && !key.isCut && isWholeKey(JSON.parse(key.text)) ? key.text : undefined;
};

/** Pages along one stretch of a slot's index, with no document to look at: as cheap as by the primary key. */
export const createExactWalks = ({ pageBytes }: ReadLimits) => {
  const mostBytes = Math.min(pageBytes, maxPipelinedBytes);
  const texts = new Map<string, string>();
  return (query: ListQuery): ExactWalkStatement | undefined => {
    const walk = exactWalk(query);
    if (!walk) return undefined;
    const { slot, bounds, isSorted, hasMarkers } = walk;
    const { after, sort, limit } = query;
    const key = after && startKey(query, walk);
    if (after && key === undefined) return undefined;
    const { collection } = query;
    const shape = {
      column: slotColumn(slot),
      descending: sort.idDescending,
      signs: bounds.map(({ sign }) => sign),
      isAfter: after !== undefined,
      isSorted,
      hasMarkers,
    };
    const name = shapeName(shape);
    const text = texts.get(name) ?? walkText(shape, mostBytes);
    texts.set(name, text);
    const { projectNumber, id } = collection;
    const position = after ? [key, after.id] : [];
    const values = [projectNumber, id, limit, ...bounds.map((bound) => bound.key), ...position];
    return { name, text, values, slot };
  };
};
