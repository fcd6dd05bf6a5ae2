import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import { translate } from './errors.ts';
import {
  beginInScope,
  type ProjectScope,
  type StatementMeter,
  switchScopeInTransaction,
} from './project-scope.ts';

export interface TransactionOptions {
  /** For its statements, in place of the usual time-out; not for nested transactions. */
  statementTimeoutMs?: number;
}

/** `name` and `text` belong together for good. */
export interface NamedStatement {
  name: string;
  text: string;
  values: readonly unknown[];
}

interface Transaction {
  client: pg.PoolClient;
  open: boolean;
  depth: number;
  /** What its statements reach now; undefined where a rollback has put back another. */
  scope: ProjectScope | undefined;
  afterCommit: (() => void)[];
  commitWith: NamedStatement[];
}

export interface TransactionsDeps {
  /** A connection that sends without waiting for answers. */
  connect(isDetached: boolean): Promise<pg.PoolClient>;
  currentScope(): ProjectScope;
  meter(): StatementMeter | undefined;
  /** Of how long its statements wait for locks, where that is not the connection's own. */
  lockSetting(client: pg.PoolClient): string | undefined;
  /** Until the function that it returns is called, a statement on this connection may take so long. */
  allow(client: pg.PoolClient, statementTimeoutMs: number): () => void;
  statementTimeoutMs: number;
}

/** Its failure is that of what is sent behind it. */
const unheard = <T>(sent: Promise<T>): Promise<T> => {
  sent.catch(() => {});
  return sent;
};

const toConfig = ({ name, text, values }: NamedStatement): pg.QueryConfig => ({
  name,
  text,
  values: [...values],
});

/**
 * Statements leave as they come: the server runs none behind one that failed until the rollback. Outside of a transaction
 * that would not hold, so that what writes leaves once BEGIN has been answered.
 */
export const createTransactions = (deps: TransactionsDeps) => {
  const { connect, currentScope, meter, lockSetting, allow, statementTimeoutMs } = deps;
  const ambient = new AsyncLocalStorage<Transaction | 'detached'>();

  const isDetached = () => ambient.getStore() === 'detached';

  const current = () => {
    const transaction = ambient.getStore();
    return typeof transaction === 'object' && transaction.open ? transaction : undefined;
  };

  const send = (transaction: Transaction, config: pg.QueryConfig): Promise<pg.QueryResult> => {
    const scope = currentScope();
    const { client } = transaction;
    if (transaction.scope !== scope) void unheard(switchScopeInTransaction(client, scope));
    transaction.scope = scope;
    const end = meter()?.statement();
    const answered = client.query(config);
    if (end) answered.then(end, end);
    return answered;
  };

  const beginOn = ({ client, scope = '' }: Transaction) =>
    beginInScope(client, scope, lockSetting(client));

  const nested = async <T>(transaction: Transaction, work: () => Promise<T>): Promise<T> => {
    const { client } = transaction;
    const savepoint = `s${++transaction.depth}`;
    const saved = unheard(client.query(`SAVEPOINT ${savepoint}`));
    const queued = transaction.afterCommit.length;
    const last = transaction.commitWith.length;
    try {
      const result = await work();
      await client.query(`RELEASE SAVEPOINT ${savepoint}`);
      return result;
    } catch (error) {
      await saved;
      transaction.afterCommit.length = queued;
      transaction.commitWith.length = last;
      transaction.scope = undefined;
      await client.query(`ROLLBACK TO SAVEPOINT ${savepoint}`);
      throw error;
    }
  };

  const commit = async (transaction: Transaction) => {
    const { client, commitWith } = transaction;
    const last = commitWith.map((statement) => unheard(send(transaction, toConfig(statement))));
    // Behind a failure it rolls back, and says so without an error.
    const committed = unheard(client.query('COMMIT'));
    await Promise.all(last);
    await committed;
    transaction.open = false;
    for (const action of transaction.afterCommit) action();
  };

  const outermost = async <T>(
    begin: (transaction: Transaction) => Promise<T>,
    limitMs = statementTimeoutMs,
  ): Promise<T> => {
    const client = await connect(isDetached()).catch((error: unknown) => {
      throw translate(error);
    });
    const transaction: Transaction = {
      client,
      scope: currentScope(),
      open: true,
      depth: 0,
      afterCommit: [],
      commitWith: [],
    };
    let broken: Error | undefined;
    const onError = (error: Error) => {
      broken = error;
    };
    client.on('error', onError);
    const endAllowance = allow(client, limitMs);
    try {
      const result = await begin(transaction);
      await commit(transaction);
      return result;
    } catch (error) {
      transaction.open = false;
      await client.query('ROLLBACK').catch((rollbackError: Error) => {
        broken = rollbackError;
      });
      throw translate(error);
    } finally {
      client.off('error', onError);
      endAllowance();
      client.release(broken);
    }
  };

  return {
    isDetached,

    isOpen: () => current() !== undefined,

    /** Undefined outside of transactions. */
    query(config: pg.QueryConfig): Promise<pg.QueryResult> | undefined {
      const transaction = current();
      return transaction && send(transaction, config);
    },

    run<T>(work: () => Promise<T>, { statementTimeoutMs: limitMs }: TransactionOptions = {}) {
      const around = current();
      if (around) return nested(around, work);
      return outermost(async (transaction) => {
        const { client } = transaction;
        await beginOn(transaction);
        if (limitMs !== undefined && limitMs !== statementTimeoutMs)
          await client.query(`SET LOCAL statement_timeout = ${limitMs}`);
        return ambient.run(transaction, work);
      }, limitMs);
    },

    async runFrom<Row, T>(
      read: NamedStatement,
      work: (rows: readonly Row[]) => Promise<T>,
    ): Promise<T> {
      const around = current();
      if (around)
        return nested(around, async () => {
          const { rows } = await send(around, toConfig(read)).catch((error: unknown) => {
            throw translate(error);
          });
          return work(rows);
        });
      return outermost(async (transaction) => {
        const begun = unheard(beginOn(transaction));
        const found = unheard(send(transaction, toConfig(read)));
        await begun;
        const { rows } = await found;
        return ambient.run(transaction, () => work(rows));
      });
    },

    commitWith(statement: NamedStatement) {
      const transaction = current();
      if (!transaction) throw new Error('There is no transaction.');
      transaction.commitWith.push(statement);
    },

    /** Runs `work` outside of the surrounding transaction. */
    detached: <T>(work: () => Promise<T>): Promise<T> =>
      current() ? ambient.run('detached', work) : work(),

    afterCommit(work: () => void) {
      const transaction = current();
      if (transaction) transaction.afterCommit.push(work);
      else work();
    },
  };
};
