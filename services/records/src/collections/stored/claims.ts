import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import {
  type CollectionKey,
  inCollection,
  insertFromSql,
  type Parameters,
  startParameters,
} from '../../sql.ts';
import { claimBytes, countGrowthSql, noSide, type SideSql } from './side-sql.ts';
import { ownerField } from './slots.ts';
import { keySql, rowColumns, type UniqueField } from './unique-keys.ts';

const addNumbers = (fields: readonly UniqueField[], parameters: Parameters): string =>
  parameters.add(
    fields.map(({ number }) => number),
    'int[]',
  );

const insertSql = 'INSERT INTO unique_values (project_id, coll_id, number, key, record_id)';
/** Inside WITH, of the table `claim`. */
const claimSql = (claims: string, key: string, condition: string): string =>
  `${insertFromSql('unique_values', { number: 'claim.number', key, record_id: 'id' }, claims, `${key} IS NOT NULL AND ${condition}`)} ORDER BY claim.number RETURNING ${claimBytes} AS growth`;
const freeSql = (gone: string): string =>
  `DELETE FROM unique_values USING (${gone}) gone
     WHERE unique_values.project_id = $1 AND unique_values.coll_id = $2 AND unique_values.number = gone.number
       AND unique_values.key = gone.key AND unique_values.record_id = gone.id RETURNING -${claimBytes} AS growth`;

/** As much of a change as its claims follow from. */
interface Claiming {
  kind: 'create' | 'update' | 'delete';
  collection: { unique: readonly UniqueField[] };
  /** Whether it touches a field of the documents' first level. Default any. */
  isChanged?(field: string): boolean;
  changesOwner?: true;
  /** Whether a later statement claims: `claimValues`. */
  claimsLater?: boolean | undefined;
}

/** The unique fields that a change can touch. */
export const touchedFields = ({
  kind,
  collection: { unique },
  isChanged = () => true,
  changesOwner,
}: Claiming): readonly UniqueField[] =>
  kind === 'update'
    ? unique.filter(({ fields }) =>
        fields.some((field) =>
          field === ownerField ? changesOwner === true : isChanged(field.split('.')[0] ?? field),
        ),
      )
    : unique;

/**
 * Claims the values that records of the table `changed` get: who comes second fails. Frees those that they lose: such
 * records have to be locked in an earlier statement, because what another change has claimed meanwhile is else not seen.
 */
export const claimsSql = (change: Claiming, parameters: Parameters): SideSql => {
  const { kind, claimsLater = false } = change;
  const fields = kind === 'create' && claimsLater ? [] : touchedFields(change);
  if (fields.length === 0) return noSide;
  const sql = fields.map((field) => keySql(field, parameters));
  const rows = (['old', 'new'] as const).filter(
    (row) => kind === 'update' || row === (kind === 'create' ? 'new' : 'old'),
  );
  const keys = rows.map((row) =>
    sql.map((key, i) => `, ${key(rowColumns(row))} AS ${row}_key${i}`),
  );
  const arrays = rows.map((row) => `ARRAY[${fields.map((_, i) => `${row}_key${i}`).join(', ')}]`);
  const named = rows.map((row) => `${row}_key`).join(', ');
  const numbers = addNumbers(fields, parameters);
  const claims = `changed, unnest(${numbers}, ${arrays.join(', ')}) claim(number, ${named})`;
  const differs = kind === 'update' ? 'claim.old_key IS DISTINCT FROM claim.new_key' : 'true';
  const gone = `SELECT id, claim.number, claim.old_key AS key FROM ${claims} WHERE ${differs}`;
  const freed = kind === 'create' ? [] : ['freed'];
  const claimed = kind === 'delete' || claimsLater ? [] : ['claimed'];
  return {
    returned: keys.flat().join(''),
    tables: [
      ...freed.map((table) => `, ${table} AS (${freeSql(gone)})`),
      ...claimed.map((table) => `, ${table} AS (${claimSql(claims, 'claim.new_key', differs)})`),
    ].join(''),
    counted: [...freed, ...claimed],
    ...(claimsLater && { lasting: [] }),
  };
};

/** By how much a change makes the values of a row of `records` more. @param document after it */
export const claimsGrowthSql = (
  fields: readonly UniqueField[],
  document: string,
  parameters: Parameters,
): string[] =>
  fields.map((field) => {
    const key = keySql(field, parameters);
    const has = (data: string) => `(${key(rowColumns('records', data))} IS NOT NULL)::int`;
    return `${claimBytes} * (${has(document)} - ${has('records.data')})`;
  });

export const lockRecord = (database: Database, collection: CollectionKey, record: string) => {
  const { projectNumber, id } = collection;
  return database.query(`SELECT FROM records WHERE ${inCollection} AND id = $3 FOR UPDATE`, [
    projectNumber,
    id,
    record,
  ]);
};

export interface TakenValue {
  id: string;
  fields: readonly string[];
  /** The record that has the value; null where it has just given it up. */
  heldBy: string | null;
}

/**
 * Claims the values that locked records have, all in one order, so that two that do so don't wait for each
 * other. Returns those that other records have.
 */
export const claimValues = async (
  database: Database,
  collection: CollectionKey,
  fields: readonly UniqueField[],
  ids: readonly string[],
): Promise<TakenValue[]> => {
  const parameters = startParameters(collection, ids);
  const keys = fields.map((field) => keySql(field, parameters)(rowColumns('records')));
  const unclaimed = `SELECT records.id, claim.number, claim.key
    FROM records, unnest(${addNumbers(fields, parameters)}, ARRAY[${keys.join(', ')}]) claim(number, key)
    WHERE records.project_id = $1 AND records.coll_id = $2 AND records.id = ANY ($3::uuid[]) AND claim.key IS NOT NULL
      AND NOT EXISTS (SELECT FROM unique_values own WHERE own.project_id = $1 AND own.coll_id = $2
        AND own.number = claim.number AND own.key = claim.key AND own.record_id = records.id)`;
  await database.query(
    `WITH claimed AS (${insertSql} SELECT $1, $2, number, key, id FROM (${unclaimed}) unclaimed
       ORDER BY number, key, id ON CONFLICT DO NOTHING RETURNING ${claimBytes} AS growth),
     claimed_bytes AS (${countGrowthSql('claimed')})
     SELECT count(*) FROM claimed`,
    parameters.values,
  );
  const taken = await database.query<{ id: string; number: number; heldBy: string | null }>(
    `SELECT id, number, (SELECT record_id FROM unique_values other WHERE other.project_id = $1 AND other.coll_id = $2
       AND other.number = unclaimed.number AND other.key = unclaimed.key) AS "heldBy"
     FROM (${unclaimed}) unclaimed ORDER BY id, number LIMIT 1000`,
    parameters.values,
  );
  return taken.map(({ id, number, heldBy }) => ({
    id,
    heldBy,
    fields: fields.find((field) => field.number === number)?.fields ?? [],
  }));
};

export const notUnique = (fields: readonly string[], cause?: unknown): ApiError => {
  const names = fields.map((field) => JSON.stringify(field)).join(' and ');
  const [has, made, send] =
    fields.length > 1
      ? [`has these values of ${names} together`, 'fields unique together', 'other values']
      : [`has this value of ${names}`, 'field unique', 'another value'];
  return new ApiError('not_unique', `Another record of this collection ${has}.`, {
    hint: `The project’s owner made the ${made}: send ${send}.`,
    cause,
  });
};

/** Of the key in PostgreSQL's detail of a violation: project, collection, number. */
const numberInDetail = /=\(\d+, \d+, (\d+), /;

export const toNotUnique = (error: unknown, unique: readonly UniqueField[]): ApiError => {
  const detail = error instanceof Error && 'detail' in error ? String(error.detail) : '';
  const number = Number(numberInDetail.exec(detail)?.[1]);
  const named = unique.find((field) => field.number === number) ?? unique[0];
  return notUnique(named?.fields ?? [], error);
};
