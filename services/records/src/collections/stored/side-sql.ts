import { insertFromSql } from '../../sql.ts';

/** What a statement that writes records does for tables beside them; each with a comma before it. */
export interface SideSql {
  /** Columns of RETURNING. */
  returned: string;
  /** Tables of WITH. */
  tables: string;
}

export const noSide: SideSql = { returned: '', tables: '' };

export const joinSides = (...sides: readonly SideSql[]): SideSql => ({
  returned: sides.map(({ returned }) => returned).join(''),
  tables: sides.map(({ tables }) => tables).join(''),
});

/** What the quota counts for a value of a unique field, as measured: its row and its key. */
export const claimBytes = 200;

/** What the quota counts for a share, about: its row and its keys, an address in each of them. */
export const shareBytes = (email = ''): number => 300 + 4 * Buffer.byteLength(email);
/** The same, of a row of `shares`. */
export const shareBytesSql = '(300 + 4 * octet_length(email))';

/** Inside WITH: counts the bytes of rows that came or went. @param rows something to select from, with the column `growth` */
export const countGrowthSql = (rows: string): string =>
  insertFromSql(
    'count_delta',
    { d: '0', bytes: 'growth' },
    `(SELECT sum(growth) AS growth FROM ${rows}) total`,
    'growth <> 0',
  );

/** Bytes of all that is kept beside the records of a collection of the project `$1`. @param id its number */
export const sideBytesSql = (id: string): string =>
  `((SELECT coalesce(sum(size_bytes), 0) FROM search_texts WHERE search_texts.project_id = $1 AND search_texts.coll_id = ${id})
    + (SELECT coalesce(sum${shareBytesSql}, 0) FROM shares WHERE shares.project_id = $1 AND shares.coll_id = ${id})
    + ${claimBytes} * (SELECT count(*) FROM unique_values WHERE unique_values.project_id = $1 AND unique_values.coll_id = ${id}))::int8`;
