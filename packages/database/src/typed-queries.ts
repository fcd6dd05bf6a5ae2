import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCreator,
} from 'kysely';
import type { Database } from './database.ts';

/**
 * Statements whose tables, columns and rows the compiler checks; they join the transaction that they
 * are in, as any other. Transactions and connections stay the database's, so that this has none.
 * @template Tables of `tables.ts`, which is made from the migrated schema
 */
export const createQueries = <Tables>(database: Database): QueryCreator<Tables> => {
  const connection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery) {
      const { rows, rowCount } = await database.execute<Row>(sql, parameters);
      return { rows, numAffectedRows: BigInt(rowCount) };
    },
    async *streamQuery() {
      yield await Promise.reject(new Error('Rows are not streamed.'));
    },
  };
  class DatabaseDriver extends DummyDriver {
    override async acquireConnection() {
      return connection;
    }
  }
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DatabaseDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
};
