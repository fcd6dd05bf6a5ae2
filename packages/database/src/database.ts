import type { PoolUsage } from './connection/pools.ts';
import type { BytesRow, TextRow } from './connection/raw-read.ts';
import type { DatabaseTrouble } from './health.ts';
import type { LockWaits } from './lock-waits.ts';
import type { ProjectScopes } from './project-scope.ts';
import type { NamedStatement, TransactionOptions } from './transactions.ts';

export interface DatabaseOptions {
  /** PostgreSQL connection string. */
  url: string;
  /** Schema of the service; the only one on its search path. */
  schema: string;
  /** Connections for writes and transactions. Default 8. */
  poolSize?: number;
  /** A statement that runs longer is cancelled. Default 5,000. */
  statementTimeoutMs?: number;
  /** The same for `scan`. Default 1,000. */
  scanTimeoutMs?: number;
  /** How long a call waits for a free connection before it fails as unavailable. Default 3,000. */
  acquireTimeoutMs?: number;
  /** Lost connections are reported here; calls fail by themselves. */
  onConnectionLost?: (error: Error) => void;
  /** Told when PostgreSQL falls silent (frozen, or packets are dropped), and when it answers again. */
  onSilence?: (isSilent: boolean) => void;
  /** Told when PostgreSQL begins to refuse the role or its password, and when it takes them again. */
  onRefusal?: (isRefused: boolean) => void;
}

export interface Result<Row> {
  rows: Row[];
  rowCount: number;
}

export interface DatabaseHealth {
  /** Whether a statement that only reads was answered. */
  isServing: boolean;
  trouble: DatabaseTrouble | undefined;
}

/**
 * All methods throw DatabaseUnavailable when PostgreSQL can't be reached, is silent or the pool stays full,
 * DatabaseRefused when it takes no new connection of the role and none is left, and
 * StatementTimeout when a statement was cancelled for its time; constraint violations pass through as
 * pg's DatabaseError with its `code` and `constraint`.
 */
export interface Database {
  /** One unnamed statement: planned for its values each time. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** The same, with the number of rows that the statement has read or changed. */
  execute<Row>(text: string, values?: readonly unknown[]): Promise<Result<Row>>;
  /**
   * One unnamed statement that may look through much: on one of `scanConnections` of its own, and
   * cancelled early. Inside a transaction it joins it.
   */
  scan<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * One unnamed statement with large texts, each in memory of its own: they never are texts to V8, which makes its full
   * collections of garbage for such ones. Never inside a transaction.
   */
  bytes(text: string, values?: readonly unknown[]): Promise<BytesRow[]>;
  /** One prepared statement; `name` and `text` belong together for good. */
  named<Row>(name: string, text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * One prepared read on a connection that pipelines: several callers share one round trip. Only for
   * statements that are always fast, because those behind wait. Inside a transaction it joins it.
   */
  read(name: string, text: string, values?: readonly unknown[]): Promise<TextRow[]>;
  /**
   * Runs `work` in a transaction that every call inside it joins, whatever feature makes it; a nested
   * call is a savepoint. Commits when `work` resolves, rolls back when it throws.
   */
  transaction<T>(work: () => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * A transaction that begins with a statement that only reads: it leaves together with BEGIN, and `work`
   * gets its rows. With `commitWith` two round trips less.
   */
  transactionFrom<Row, T>(
    read: NamedStatement,
    work: (rows: readonly Row[]) => Promise<T>,
  ): Promise<T>;
  /**
   * The last statement of the outermost transaction around it: it leaves together with COMMIT, and where
   * it fails, the transaction does.
   */
  commitWith(statement: NamedStatement): void;
  /**
   * Statements of `work` wait for a lock for 200 ms at most, so that those who wait for one record keep no
   * connections from others. Where one had to wait for longer, `work` runs again after `pause`, until as much time
   * has passed as a statement may take. @throws LockTimeout then
   */
  retryLocked: LockWaits['retryLocked'];
  /** Whether a transaction surrounds the caller. */
  isInTransaction(): boolean;
  /** Runs `work` outside the surrounding transaction: what it writes stays when that one rolls back. */
  detached<T>(work: () => Promise<T>): Promise<T>;
  /** Runs `work` once the surrounding transaction has committed; at once where there is none. */
  afterCommit(work: () => void): void;
  /**
   * Every statement of `work` reaches this project's rows alone, of tables that have row-level security;
   * outside of any such scope statements reach none of theirs. @throws RangeError
   */
  inProject: ProjectScopes['inProject'];
  /** The same with the rows of all projects: for sweeps, and for what no project is known of yet. */
  acrossProjects: ProjectScopes['acrossProjects'];
  /** Each connection that `work` takes from those for writes and transactions waits for its turn; its statements are counted. */
  inTurn: ProjectScopes['inTurn'];
  /** How full each pool is at the moment. */
  pools(): PoolUsage[];
  /** What keeps PostgreSQL from its work, looked for anew; within four seconds. */
  health(): Promise<DatabaseHealth>;
  close(): Promise<void>;
}
