import type pg from 'pg';
import { createPipelinedSocket, createPoolSocket } from './connection/message-socket.ts';
import { createPipelinedReader } from './connection/pipelined-reader.ts';
import { createPools, writeConnections } from './connection/pools.ts';
import {
  type PreparedRead,
  rawTypes,
  readBytes,
  readRaw,
  type TextRow,
} from './connection/raw-read.ts';
import { createRefusalWatch } from './connection/refusal.ts';
import { createSilenceGuard, type GuardedConfig } from './connection/silence.ts';
import type { Database, DatabaseOptions, Result } from './database.ts';
import { translate } from './errors.ts';
import { lookForTrouble } from './health.ts';
import { createLockWaits } from './lock-waits.ts';
import { createProjectScopes, switchScope, unscoped } from './project-scope.ts';
import { createTransactions } from './transactions.ts';

/** A farewell that the server does not take is not waited for any longer. */
const closeTimeoutMs = 2000;
/** A plan for all values is made for an average tenant, and there reading everything and sorting it can be cheapest. */
const readsByIndex = { enable_seqscan: 'off', enable_sort: 'off' };

export const createDatabase = (options: DatabaseOptions): Database => {
  const statementTimeoutMs = options.statementTimeoutMs ?? 5000;
  const acquireTimeoutMs = options.acquireTimeoutMs ?? 3000;
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
  const scopes = createProjectScopes();
  const pools = createPools({
    connection,
    scanConnection: connectionFor(options.scanTimeoutMs ?? 1000),
    writes: options.poolSize ?? writeConnections,
    acquireTimeoutMs,
    guard,
    noteConnect,
    onConnectionLost,
    turn: scopes.turn,
  });
  const { connect } = pools;
  const ReaderClient = guard.clientTelling(noteConnect);
  const reader = createPipelinedReader(
    () =>
      new ReaderClient({
        ...connection,
        settings: { ...connection.settings, ...readsByIndex },
        connectionTimeoutMillis: acquireTimeoutMs,
        pipeline: true,
        stream: createPipelinedSocket,
      } as GuardedConfig),
    onConnectionLost,
  );
  const lockWaits = createLockWaits(statementTimeoutMs);
  const transactions = createTransactions({
    lockSetting: lockWaits.settingFor,
    connect: (isDetached) => connect(isDetached ? pools.detached : pools.writes),
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

  const free = () => (transactions.isDetached() ? pools.detached : pools.writes);

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
      (await run<Row>({ text, values: [...values] }, pools.scans)).rows,
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
    pools: pools.usage,
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
      const ended = Promise.all([reader.close(), pools.end()]);
      guard.close();
      const timer = setTimeout(guard.endAll, closeTimeoutMs);
      await ended.finally(() => clearTimeout(timer));
    },
  };
};
