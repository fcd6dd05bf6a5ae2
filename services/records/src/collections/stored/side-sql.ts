import { insertFromSql } from '../../sql.ts';

/** What a statement that writes records does for tables beside them; each with a comma before it. */
export interface SideSql {
  /** Columns of RETURNING. */
  returned: string;
  /** Tables of WITH. */
  tables: string;
  /** Those of them that say what the quota counts, in the column `growth`. */
  counted: readonly string[];
  /** Those of which no later statement of the transaction makes up for what they say. Default all that count. */
  lasting?: readonly string[];
}

export const noSide: SideSql = { returned: '', tables: '', counted: [] };

/** What the quota counts for a value of a unique field, as measured: its row and its key. */
export const claimBytes = 200;

/** What the quota counts for a share, about: its row and its keys, an address in each of them. */
export const shareBytes = (email = ''): number => 300 + 4 * Buffer.byteLength(email);
export const shareBytesSql = '(300 + 4 * octet_length(email))';

/** Inside WITH: counts the bytes of rows that came or went. @param rows something to select from, with the column `growth` */
export const countGrowthSql = (rows: string): string =>
  insertFromSql(
    'count_delta',
    { d: '0', bytes: 'growth' },
    `(SELECT sum(growth) AS growth FROM ${rows}) total`,
    'growth <> 0',
  );
