import pg from 'pg';
import { givesNoFurther } from '../health.ts';
import type { ProjectScopes } from '../project-scope.ts';
import { pipelinedConnections } from './pipelined-reader.ts';
import type { GuardedConfig, SilenceGuard } from './silence.ts';

/** For writes and transactions, where nothing else is said. */
export const writeConnections = 8;
const detachedConnections = 2;
/** Scans that run at once; their callers share them out, so that none waits in the pool. */
export const scanConnections = 6;
/** Of one process that scans nothing. */
export const mostConnections = writeConnections + detachedConnections + pipelinedConnections;
/** For so long an unused connection stays: below the 350 s after which balancers of large clouds forget it. */
const idleTimeoutMillis = 300_000;
/** For so long a pool asks for no further connection after PostgreSQL has refused one. */
const refusedPauseMs = 1000;

const INT8 = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === INT8
      ? Number
      : pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig['getTypeParser'],
};

export interface PoolUsage {
  pool: string;
  /** So many it opens at most. */
  most: number;
  open: number;
  idle: number;
  /** Callers who wait for one. */
  waiting: number;
}

const describePool = (name: string, pool: pg.Pool): PoolUsage => ({
  pool: name,
  most: pool.options.max,
  open: pool.totalCount,
  idle: pool.idleCount,
  waiting: pool.waitingCount,
});

export interface PoolsDeps {
  connection: GuardedConfig;
  /** Its statements are cancelled earlier. */
  scanConnection: GuardedConfig;
  writes: number;
  /** How long a caller waits for a connection. */
  acquireTimeoutMs: number;
  guard: SilenceGuard;
  /** Told how each attempt to connect has ended. */
  noteConnect(error: unknown): void;
  onConnectionLost(error: Error): void;
  /** Of the work that a connection for writes is taken for. */
  turn: ProjectScopes['turn'];
}

/** Connections for writes and transactions, for detached work beside them, and for scans. */
export const createPools = ({
  connection,
  scanConnection,
  writes: writeCount,
  acquireTimeoutMs,
  guard,
  noteConnect,
  onConnectionLost,
  turn: findTurn,
}: PoolsDeps) => {
  const standing = new WeakMap<pg.Pool, number>();
  const createPool = (max: number, settings: GuardedConfig) => {
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
      connectionTimeoutMillis: acquireTimeoutMs,
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
  const writes = createPool(writeCount, connection);
  // Transactions that fill the pool would wait for each other if their detached work needed it too.
  const detached = createPool(detachedConnections, connection);
  const scans = createPool(scanConnections, scanConnection);
  const turns = new WeakMap<pg.PoolClient, () => void>();
  writes.on('release', (_error, client) => {
    turns.get(client)?.();
    turns.delete(client);
  });

  /** Where PostgreSQL gives no further connection, callers wait for those that the pool has. */
  const takeFrom = async (from: pg.Pool): Promise<pg.PoolClient> => {
    const end = performance.now() + acquireTimeoutMs;
    for (;;) {
      try {
        return await from.connect();
      } catch (error) {
        const isPatient = (standing.get(from) ?? 0) > 0 && performance.now() < end;
        if (!givesNoFurther(error) || !isPatient) throw error;
      }
    }
  };

  return {
    writes,
    detached,
    scans,
    async connect(from: pg.Pool): Promise<pg.PoolClient> {
      guard.check();
      const turn: Promise<() => void> | undefined = from === writes ? findTurn()?.() : undefined;
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
    },
    usage: () => [
      describePool('writes', writes),
      describePool('detached', detached),
      describePool('scans', scans),
    ],
    end: () => Promise.all([writes.end(), detached.end(), scans.end()]),
  };
};
