import type { Socket } from 'node:net';
import pg from 'pg';
import { DatabaseUnavailable } from '../errors.ts';
import { applySettings, type SessionSettings } from './session.ts';

/**
 * A frozen server, or a network that drops packets, ends no connection: where an answer is outstanding and nothing comes,
 * the server is asked on a new one.
 */
const lookMs = 250;
/** Looks without an answer before the server is asked: 0.75 to 1 s. */
const suspectLooks = 4;
const probeTimeoutMs = 2000;
/** For a server that has taken half as long before: callers are still told in time. */
const longestProbeTimeoutMs = 4000;
/** Between the starts of two probes while the server is silent, of which a few are open at a time. */
const probeEveryMs = 1000;
const mostProbes = 3;
/** An overloaded server greets late: with less patience none of its answers would ever be heard. */
const patientProbeMs = 10_000;
/** The server ends a statement by itself before. */
const limitMarginMs = 1000;

export interface GuardedConfig extends pg.ClientConfig {
  /** The server's statement time-out on this connection. */
  statementTimeoutMs: number;
  settings: SessionSettings;
}

export interface SilenceGuard {
  /** For pools and for single connections, whose settings are a GuardedConfig. Tells how connecting ended before anybody else learns of it. */
  clientTelling(onConnect: (error: Error | null) => void): typeof pg.Client;
  /** @throws DatabaseUnavailable at once while the server is silent */
  check(): void;
  /** Until the function that it returns is called, a statement on this connection may take so long. */
  allow(client: pg.ClientBase, statementTimeoutMs: number): () => void;
  /** Ends all connections at once, whether anything comes or not. */
  endAll(): void;
  close(): void;
}

/** What pg's types leave out. */
interface Wire {
  connection: { stream: Socket };
  /** False while an answer is outstanding, undefined until the connection stands. */
  readyForQuery?: boolean;
  processID: number | null;
}

interface Watched {
  wire: Wire;
  statementTimeoutMs: number;
  bytesRead: number;
  /** So often an answer was outstanding and no byte had come since the look before. */
  silentLooks: number;
  /** The server is asked again after so many. */
  askAfterLooks: number;
  /** The server has no statement of this connection at work. */
  isForgotten: boolean;
}

type Finding = { isSilent: true } | { isSilent: false; atWork: ReadonlySet<number> | undefined };

const silence = () => new DatabaseUnavailable('PostgreSQL is silent');

/**
 * Silent is a server that lets an answer be outstanding for about a second and sends no byte within two more, neither on
 * its connections nor on a new one. Then all end and callers fail at once, until a probe is answered, of which one
 * starts each second. Else only those end whose statements it knows nothing of, or that outlast their time-out.
 */
export const createSilenceGuard = (
  connection: pg.ClientConfig,
  onChange: (isSilent: boolean) => void,
): SilenceGuard => {
  const all = new Map<pg.ClientBase, Watched>();
  let isSilent = false;
  let isProbing = false;
  let isClosed = false;
  let bytesHeard = 0;
  let timeoutMs = probeTimeoutMs;
  const probes = new Set<Socket>();

  class GuardedClient extends pg.Client {
    readonly #settings: SessionSettings;

    constructor(config: GuardedConfig) {
      super(config);
      this.#settings = config.settings;
      all.set(this, {
        wire: this as unknown as Wire,
        statementTimeoutMs: config.statementTimeoutMs,
        bytesRead: 0,
        silentLooks: 0,
        askAfterLooks: suspectLooks,
        isForgotten: false,
      });
      this.once('end', () => all.delete(this));
      // Between those who listen for a connection's end, nobody does; what is sent on it fails by itself.
      this.on('error', () => {});
    }

    protected async connected(): Promise<this> {
      await super.connect();
      await applySettings(this, this.#settings).catch((error: Error) => {
        (this as unknown as Wire).connection.stream.destroy(error);
        throw error;
      });
      return this;
    }

    override connect(): Promise<this>;
    override connect(callback: (error: Error | null) => void): void;
    override connect(callback?: (error: Error | null) => void) {
      const connected = this.connected();
      if (!callback) return connected;
      connected.then(() => callback(null), callback);
    }
  }

  const end = ({ wire }: Watched) => wire.connection.stream.destroy(silence());

  /** @param pids of server processes, to be told which of them are at work */
  const probe = async (pids: readonly number[], patienceMs: number): Promise<Finding> => {
    const client = new pg.Client(connection);
    client.on('error', () => {});
    const wire = client as unknown as Wire;
    const heardBefore = bytesHeard;
    // A process that was busy finds the timer due before it has read the answer, which it does next.
    const giveUp = () => setImmediate(() => wire.connection.stream.destroy(silence()));
    const timer = setTimeout(giveUp, patienceMs).unref();
    const { stream } = wire.connection;
    const startedAt = performance.now();
    probes.add(stream);
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
          WHERE pid = ANY($1) AND coalesce(state, '') NOT LIKE 'idle%'`,
        [pids],
      );
      const tookMs = performance.now() - startedAt;
      timeoutMs = Math.min(longestProbeTimeoutMs, Math.max(probeTimeoutMs, 2 * tookMs));
      return { isSilent: false, atWork: new Set(rows.map(({ pid }) => pid)) };
    } catch (error) {
      // Also a refusal is an answer.
      const isAnswered = error instanceof pg.DatabaseError || wire.connection.stream.bytesRead > 0;
      return isAnswered || bytesHeard > heardBefore
        ? { isSilent: false, atWork: undefined }
        : { isSilent: true };
    } finally {
      clearTimeout(timer);
      probes.delete(stream);
      client.end().catch(() => {});
    }
  };

  const endProbes = () => {
    for (const stream of probes) stream.destroy(silence());
  };

  const recover = async () => {
    const answered = Promise.withResolvers<void>();
    const start = async () => {
      if (isClosed) return answered.resolve();
      if (probes.size === mostProbes) return;
      if (!(await probe([], patientProbeMs)).isSilent) answered.resolve();
    };
    void start();
    const starts = setInterval(() => void start(), probeEveryMs).unref();
    await answered.promise;
    clearInterval(starts);
    endProbes();
    isSilent = false;
    if (!isClosed) onChange(false);
  };

  const ask = async (suspects: readonly Watched[]) => {
    const pids = suspects.flatMap(({ wire }) => wire.processID ?? []);
    const finding = await probe(pids, timeoutMs);
    if (isClosed) return;
    if (finding.isSilent) {
      isSilent = true;
      onChange(true);
      for (const watched of all.values()) end(watched);
      void recover();
      return;
    }
    for (const watched of suspects) {
      const { processID } = watched.wire;
      watched.askAfterLooks = 2 * watched.silentLooks;
      // What comes until the next look was on its way.
      if (finding.atWork && processID !== null && watched.silentLooks > 0)
        watched.isForgotten = !finding.atWork.has(processID);
    }
  };

  const look = () => {
    const suspects: Watched[] = [];
    for (const watched of all.values()) {
      const { stream } = watched.wire.connection;
      const heard = stream.bytesRead !== watched.bytesRead;
      if (heard) bytesHeard += 1;
      watched.bytesRead = stream.bytesRead;
      if (heard || watched.wire.readyForQuery === true) {
        watched.silentLooks = 0;
        watched.askAfterLooks = suspectLooks;
        watched.isForgotten = false;
        continue;
      }
      watched.silentLooks += 1;
      const isOverdue = watched.silentLooks * lookMs > watched.statementTimeoutMs + limitMarginMs;
      if (watched.isForgotten || isOverdue) end(watched);
      else if (watched.silentLooks >= watched.askAfterLooks) suspects.push(watched);
    }
    if (suspects.length === 0 || isSilent || isProbing) return;
    isProbing = true;
    void ask(suspects).finally(() => {
      isProbing = false;
    });
  };
  const timer = setInterval(look, lookMs).unref();

  return {
    clientTelling: (onConnect) =>
      class extends GuardedClient {
        override async connected(): Promise<this> {
          try {
            await super.connected();
            onConnect(null);
            return this;
          } catch (error) {
            onConnect(error as Error);
            throw error;
          }
        }
      } as typeof pg.Client,
    check() {
      if (isSilent) throw silence();
    },
    allow(client, statementTimeoutMs) {
      const watched = all.get(client);
      const usualMs = watched?.statementTimeoutMs ?? 0;
      if (watched) watched.statementTimeoutMs = statementTimeoutMs;
      return () => {
        if (watched) watched.statementTimeoutMs = usualMs;
      };
    },
    endAll() {
      for (const watched of all.values()) end(watched);
    },
    close() {
      isClosed = true;
      clearInterval(timer);
      endProbes();
    },
  };
};
