import pg from 'pg';
import { createPipelinedSocket, createPoolSocket } from './connection/message-socket.ts';
import { createPipelinedReader, pipelinedConnections } from './connection/pipelined-reader.ts';
import {
  type BytesRow,
  type PreparedRead,
  rawTypes,
  readBytes,
  readRaw,
  type TextRow,
} from './connection/raw-read.ts';
import { createRefusalWatch } from './connection/refusal.ts';
import { createSilenceGuard, type GuardedConfig } from './connection/silence.ts';
import { translate } from './errors.ts';
import { type DatabaseTrouble, givesNoFurther, lookForTrouble } from './health.ts';
import { createLockWaits, type LockWaits } from './lock-waits.ts';
import { createProjectScopes, type ProjectScopes, switchScope, unscoped } from './project-scope.ts';
import {
  createTransactions,
  type NamedStatement,
  type TransactionOptions,
} from './transactions.ts';

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

export interface PoolUsage {
  pool: string;
  /** So many it opens at most. */
  most: number;
  open: number;
  idle: number;
  /** Callers who wait for one. */
  waiting: number;
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

/** For writes and transactions, where nothing else is said. */
export const writeConnections = 8;
const detachedPoolSize = 2;
/** For so long an unused connection stays: below the 350 s after which balancers of large clouds forget it. */
const idleTimeoutMillis = 300_000;
/** A farewell that the server does not take is not waited for any longer. */
const closeTimeoutMs = 2000;
/** A plan for all values is made for an average tenant, and there reading everything and sorting it can be cheapest. */
const readsByIndex = { enable_seqscan: 'off', enable_sort: 'off' };
/** For so long a pool asks for no further connection after PostgreSQL has refused one. */
const refusedPauseMs = 1000;
/** Scans that run at once; their callers share them out, so that none waits in the pool. */
export const scanConnections = 6;
/** Of one process that scans nothing. */
export const mostConnections = writeConnections + detachedPoolSize + pipelinedConnections;

const INT8 = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === INT8
      ? Number
      : pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig['getTypeParser'],
};

const describePool = (name: string, pool: pg.Pool): PoolUsage => ({
  pool: name,
  most: pool.options.max,
  open: pool.totalCount,
  idle: pool.idleCount,
  waiting: pool.waitingCount,
});

export const createDatabase = (options: DatabaseOptions): Database => {
  const statementTimeoutMs = options.statementTimeoutMs ?? 5000;
  const connectionTimeoutMillis = options.acquireTimeoutMs ?? 3000;
  const connectionFor = (timeoutMs: number): GuardedConfig => ({
    connectionString: options.url,
    application_name: `backlot-${options.schema}`,
    settings: {
      search_path: options.schema,
      jit: 'off',
      // At the usual cost, one page of a table never analyzed yet would be found by a sort of all.
      random_page_cost: '1.1',
      ...unscoped,
      statement_timeout: String(timeoutMs),
      idle_in_transaction_session_timeout: '60000',
    },
    keepAlive: true,
    stream: createPoolSocket,
    statementTimeoutMs: timeoutMs,
  });
  const connection = connectionFor(statementTimeoutMs);
  const onConnectionLost = options.onConnectionLost ?? (() => {});
  const guard = createSilenceGuard(connection, options.onSilence ?? (() => {}));
  const noteConnect = createRefusalWatch(options.onRefusal ?? (() => {}));
  const standing = new WeakMap<pg.Pool, number>();
  const createPool = (max: number, settings = connection) => {
    /** Before the pool tries the same for whoever waits. */
    const keepToThoseThere = (error: Error | null) => {
      noteConnect(error);
      const there = standing.get(connections) ?? 0;
      if (!givesNoFurther(error) || there === 0) return;
      connections.options.max = there;
      setTimeout(() => {
        connections.options.max = max;
      }, refusedPauseMs).unref();
    };
    const connections: pg.Pool = new pg.Pool({
      ...settings,
      types,
      max,
      connectionTimeoutMillis,
      idleTimeoutMillis,
      pipeline: true,
      Client: guard.clientTelling(keepToThoseThere),
    });
    const count = (by: number) => () =>
      standing.set(connections, (standing.get(connections) ?? 0) + by);
    connections.on('connect', count(1)).on('remove', count(-1));
    // pg adds the client to the error, and with it what must not be logged.
    return connections.on('error', ({ message, stack }) =>
      onConnectionLost(Object.assign(new Error(message), { stack })),
    );
  };
  const pool = createPool(options.poolSize ?? writeConnections);
  // Transactions that fill the pool would wait for each other if their detached work needed it too.
  const detachedPool = createPool(detachedPoolSize);
  const scanPool = createPool(scanConnections, connectionFor(options.scanTimeoutMs ?? 1000));
  const ReaderClient = guard.clientTelling(noteConnect);
  const reader = createPipelinedReader(
    () =>
      new ReaderClient({
        ...connection,
        settings: { ...connection.settings, ...readsByIndex },
        connectionTimeoutMillis,
        pipeline: true,
        stream: createPipelinedSocket,
      } as GuardedConfig),
    onConnectionLost,
  );
  const scopes = createProjectScopes();
  const turns = new WeakMap<pg.PoolClient, () => void>();
  pool.on('release', (_error, client) => {
    turns.get(client)?.();
    turns.delete(client);
  });
  /** Where PostgreSQL gives no further connection, callers wait for those that the pool has. */
  const takeFrom = async (from: pg.Pool): Promise<pg.PoolClient> => {
    const end = performance.now() + connectionTimeoutMillis;
    for (;;) {
      try {
        return await from.connect();
      } catch (error) {
        const isPatient = (standing.get(from) ?? 0) > 0 && performance.now() < end;
        if (!givesNoFurther(error) || !isPatient) throw error;
      }
    }
  };
  const connect = async (from: pg.Pool): Promise<pg.PoolClient> => {
    guard.check();
    const turn: Promise<() => void> | undefined = from === pool ? scopes.turn()?.() : undefined;
    const endTurn = await turn;
    try {
      guard.check();
      const client = await takeFrom(from);
      if (endTurn) turns.set(client, endTurn);
      return client;
    } catch (error) {
      endTurn?.();
      throw error;
    }
  };
  const lockWaits = createLockWaits(statementTimeoutMs);
  const transactions = createTransactions({
    lockSetting: lockWaits.settingFor,
    connect: (isDetached) => connect(isDetached ? detachedPool : pool),
    currentScope: scopes.current,
    meter: scopes.meter,
    allow: guard.allow,
    statementTimeoutMs,
  });

  /** Waiting for a connection is no work of the statement. */
  const measured = <T>(answer: () => Promise<T>): Promise<T> => {
    const end = scopes.meter()?.statement();
    const answered = answer();
    if (end) void answered.then(end, end);
    return answered;
  };

  const free = () => (transactions.isDetached() ? detachedPool : pool);

  const onPool = async <T>(
    from: pg.Pool,
    use: (client: pg.PoolClient) => Promise<T>,
  ): Promise<T> => {
    const scope = scopes.current();
    const client = await connect(from);
    try {
      await switchScope(client, scope);
      lockWaits.switchFor(client);
      const result = await use(client);
      client.release();
      return result;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  };

  /** Both leave at once; the answer counts only where the connection has taken the scope. */
  const onReader = async (client: pg.Client, read: PreparedRead): Promise<TextRow[]> => {
    const switching = switchScope(client, scopes.current());
    if (!switching) return await readRaw(client, read);
    switching.catch((error: Error) => reader.drop(client, error));
    const [, rows] = await Promise.all([switching, readRaw(client, read)]);
    return rows;
  };

  /** Parts pg's query from its values and rows: old to V8 by then, it may keep them until the next full collection. */
  const run = async <Row>(config: pg.QueryConfig, from = free()): Promise<Result<Row>> => {
    try {
      const result = await (transactions.query(config) ??
        onPool(from, (client) => measured(() => client.query(config))));
      const { rows, rowCount } = result;
      result.rows = [];
      return { rows: rows as Row[], rowCount: rowCount ?? 0 };
    } catch (error) {
      throw translate(error);
    } finally {
      if (config.values) config.values.length = 0;
    }
  };

  const readAtOnce = (read: PreparedRead): Promise<TextRow[]> | undefined => {
    if (transactions.isOpen()) return undefined;
    guard.check();
    const client = reader.client();
    return client && measured(() => onReader(client, read));
  };

  return {
    execute: (text, values = []) => run({ text, values: [...values] }),
    query: async <Row>(text: string, values: readonly unknown[] = []) =>
      (await run<Row>({ text, values: [...values] })).rows,
    scan: async <Row>(text: string, values: readonly unknown[] = []) =>
      (await run<Row>({ text, values: [...values] }, scanPool)).rows,
    bytes: async (text, values = []) => {
      try {
        return await onPool(free(), (client) =>
          measured(() => readBytes(client, text, [...values])),
        );
      } catch (error) {
        throw translate(error);
      }
    },
    named: async <Row>(name: string, text: string, values: readonly unknown[] = []) =>
      (await run<Row>({ name, text, values: [...values] })).rows,
    async read(name, text, values = []) {
      const read = { name, text, values: [...values] };
      const atOnce = readAtOnce(read);
      if (!atOnce) {
        const config = { ...read, rowMode: 'array', types: rawTypes };
        return (await run<TextRow>(config)).rows;
      }
      try {
        return await atOnce;
      } catch (error) {
        throw translate(error);
      }
    },
    transaction: transactions.run,
    transactionFrom: transactions.runFrom,
    commitWith: transactions.commitWith,
    retryLocked: lockWaits.retryLocked,
    isInTransaction: transactions.isOpen,
    detached: transactions.detached,
    afterCommit: transactions.afterCommit,
    inProject: scopes.inProject,
    inTurn: scopes.inTurn,
    acrossProjects: scopes.acrossProjects,
    pools: () => [
      describePool('writes', pool),
      describePool('detached', detachedPool),
      describePool('scans', scanPool),
    ],
    async health() {
      const [isServing, trouble] = await Promise.all([
        run({ text: 'SELECT 1' }).then(
          () => true,
          () => false,
        ),
        lookForTrouble({ connectionString: options.url }, noteConnect),
      ]);
      return { isServing, trouble: trouble ?? (isServing ? undefined : 'out_of_reach') };
    },
    async close() {
      const ended = Promise.all([reader.close(), pool.end(), detachedPool.end(), scanPool.end()]);
      guard.close();
      const timer = setTimeout(guard.endAll, closeTimeoutMs);
      await ended.finally(() => clearTimeout(timer));
    },
  };
};
