import type { SealedUnder } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { SealBroken, type Sealer } from '@backlot/sealing';

/** Where a service keeps what it has sealed. */
export interface SealStore {
  /** By key: those that could open it, and those that have sealed something. */
  count(): Promise<SealedUnder[]>;
  /** Seals up to so many again under the current key; each by itself, so that it may end anywhere. */
  reseal(limit: number): Promise<number>;
}

export interface SealedColumn<Row extends object> {
  database: Database;
  sealer: Sealer;
  table: string;
  column: string;
  /** Of the primary key. */
  keys: readonly (string & keyof Row)[];
  /** As what the row's secret was sealed. */
  context(row: Row): string;
}

/** Names of keys that nobody knows are read up to so many. */
const mostKeys = 100;

/** A column with secrets, which begin with the name of the key that sealed them. */
export const sealedColumn = <Row extends object>({
  database,
  sealer,
  table,
  column,
  keys,
  context,
}: SealedColumn<Row>): SealStore => {
  const [current, ...older] = sealer.keyNames;
  const nameBytes = current?.length ?? 0;
  const name = `substring(${column} FROM 1 FOR ${nameBytes})`;
  const ownRow = keys.map((key, at) => `${key} = $${at + 3}`).join(' AND ');

  /** False where somebody has changed it meanwhile, or no key opens it. */
  const resealRow = async ({ sealed, ...row }: Row & { sealed: Buffer }): Promise<boolean> => {
    const place = row as unknown as Row;
    try {
      const again = sealer.seal(sealer.open(sealed, context(place)), context(place));
      const values = keys.map((key) => place[key]);
      const text = `UPDATE ${table} SET ${column} = $1 WHERE ${column} = $2 AND ${ownRow} RETURNING 1`;
      return (await database.query(text, [again, sealed, ...values])).length > 0;
    } catch (error) {
      if (error instanceof SealBroken) return false;
      throw error;
    }
  };

  return {
    async count() {
      const found = await database.query<{ name: Buffer; sealed: number }>(
        `SELECT ${name} AS name, count(*) AS sealed FROM ${table} WHERE ${column} IS NOT NULL
          GROUP BY 1 ORDER BY ${name} = ANY ($1::bytea[]) DESC, 2 DESC LIMIT ${mostKeys}`,
        [sealer.keyNames],
      );
      const sealed = new Map(found.map((row) => [row.name.toString('hex'), row.sealed]));
      const ring = sealer.keyNames.map((key) => key.toString('hex'));
      return [...new Set([...ring, ...sealed.keys()])].map((keyId) => ({
        setting: 'BACKLOT_SECRETS_KEYS',
        keyId,
        state: keyId === ring[0] ? 'current' : ring.includes(keyId) ? 'old' : 'lost',
        sealed: sealed.get(keyId) ?? 0,
      }));
    },
    async reseal(limit) {
      if (older.length === 0) return 0;
      const rows = await database.query<Row & { sealed: Buffer }>(
        `SELECT ${keys.join(', ')}, ${column} AS sealed FROM ${table}
          WHERE ${name} = ANY ($1::bytea[]) LIMIT $2`,
        [older, limit],
      );
      let done = 0;
      for (const row of rows) if (await resealRow(row)) done++;
      return done;
    },
  };
};
