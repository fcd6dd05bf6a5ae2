import { visibleDataSql } from '../../collections/field-rules.ts';
import {
  epochMsSql,
  insertFromSql,
  type Parameters,
  startParameters,
  versionSql,
} from '../../sql.ts';
import { type Change, changedIds, type Update } from './change.ts';
import { rowsSql } from './rows-sql.ts';
import { combineSides } from './side-effects.ts';

/** A changed record as the statement answers it to a caller. */
export interface ChangedRow {
  id: string;
  owner_id: string | null;
  group_id: string | null;
  created_ms: number;
  version: number;
  data: string;
}

/** One of several that change for one caller. */
export interface ChangedVersion {
  id: string;
  version: number;
  /** Bytes, of all together, but for values that are claimed later. */
  growth: number;
}

/** What `changed` has of each row, and how many records and bytes more there are with it. */
const returned = (change: Change) => {
  switch (change.kind) {
    case 'create':
      return { columns: 'id', records: 1, growth: 'size_bytes' };
    case 'update': {
      const columns = `records.id, updated_at${change.by ? ', owner_id, group_id, created_at, data' : ''}`;
      return { columns, records: 0, growth: 'new.size_bytes - old.size_bytes' };
    }
    case 'delete':
      return { columns: 'id', records: -1, growth: '-size_bytes' };
  }
};

const countOne = (records: number) =>
  insertFromSql('count_delta', { d: String(records), bytes: 'growth' }, 'changed', 'growth <> 0');
const countOneSql = { create: countOne(1), update: countOne(0), delete: countOne(-1) };

const countSql = (change: Change, records: number, counted: readonly string[]): string => {
  if (counted.length === 0 && changedIds(change).length === 1) return countOneSql[change.kind];
  const rows = [
    `SELECT ${records} AS records, growth FROM changed`,
    ...counted.map((table) => `SELECT 0, growth FROM ${table}`),
  ].join(' UNION ALL ');
  const sums = `(SELECT sum(records)::int AS records, sum(growth) AS growth FROM (${rows}) rows) total`;
  const columns = { d: 'records', bytes: 'growth' };
  return insertFromSql('count_delta', columns, sums, '(records <> 0 OR growth <> 0)');
};

const versionAnswer = (lasting: readonly string[]): string => {
  const growth = lasting.map((table) => `(SELECT coalesce(sum(growth), 0) FROM ${table})`);
  return `id, ${versionSql} AS version, (${growth.join(' + ')})::int8 AS growth`;
};

const recordAnswer = ({ access }: NonNullable<Update['by']>, parameters: Parameters): string =>
  `id, owner_id, group_id, ${epochMsSql('created_at')} AS created_ms, ${versionSql} AS version, (${visibleDataSql(access, parameters)})::text AS data`;

const answerSql = (change: Change, lasting: readonly string[], parameters: Parameters): string => {
  if (change.kind === 'update') {
    const answer = change.by ? recordAnswer(change.by, parameters) : versionAnswer(lasting);
    return `SELECT ${answer} FROM changed records`;
  }
  if (changedIds(change).length === 1) return 'SELECT id FROM changed';
  return 'SELECT count(*)::int AS records FROM changed HAVING count(*) > 0';
};

/**
 * The statement of a change: the rows of `records`, what follows from them, and what is counted are committed together
 * or not at all. It answers a row for each record that it has updated, a `ChangedRow` for a caller and else a
 * `ChangedVersion`, and one row where it has created or deleted any.
 */
export const changeSql = (change: Change): { text: string; parameters: Parameters } => {
  const ids = changedIds(change);
  const parameters = startParameters(change.collection, ids.length === 1 ? ids[0] : ids);
  const rows = rowsSql(change, parameters);
  const { columns, records, growth } = returned(change);
  const sides = combineSides(change, parameters);
  const text = `WITH changed AS (${rows}
      RETURNING ${columns}, ${growth} AS growth${sides.returned})${sides.tables},
    counted AS (${countSql(change, records, sides.counted)})
  ${answerSql(change, ['changed', ...sides.lasting], parameters)}`;
  return { text, parameters };
};
