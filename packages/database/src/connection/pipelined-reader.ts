import type { Socket } from 'node:net';
import type pg from 'pg';
import { atTurnsEnd } from './turn-end.ts';

/** Opened on first use and again after a loss; until then callers use the pool. Why two: docs/decisions/0002. */
export const pipelinedConnections = 2;
const reconnectDelayMs = 500;

export interface PipelinedReader {
  /** A connected client, or undefined while there is none. */
  client(): pg.Client | undefined;
  /** Ends a connection at once; what is under way on it fails. */
  drop(client: pg.Client, reason: Error): void;
  close(): Promise<void>;
}

/** What pg's types leave out. */
interface Connection {
  stream: Socket;
  describe(): void;
}

const connectionFrom = (client: pg.Client) =>
  (client as unknown as { connection: Connection }).connection;

/** @param createClient one in pipeline mode, not connected yet */
export const createPipelinedReader = (
  createClient: () => pg.Client,
  onConnectionLost: (error: Error) => void,
): PipelinedReader => {
  const connections: (pg.Client | 'connecting' | 'waiting' | undefined)[] =
    Array(pipelinedConnections).fill(undefined);
  const gathering = new Set<pg.Client>();
  let closed = false;
  let turn = 0;

  const open = (index: number) => {
    connections[index] = 'connecting';
    const client = createClient();
    // Rows stay as they came, so that nobody asks what their columns are.
    connectionFrom(client).describe = () => {};
    const lost = (error: Error) => {
      if (connections[index] === 'waiting' || closed) return;
      connections[index] = 'waiting';
      onConnectionLost(error);
      setTimeout(() => {
        connections[index] = undefined;
      }, reconnectDelayMs).unref();
    };
    client.on('error', lost);
    client.on('end', () => lost(new Error('connection ended')));
    client.connect().then(() => {
      if (closed) void client.end();
      else connections[index] = client;
    }, lost);
  };

  const socketFrom = (client: pg.Client): Socket => connectionFrom(client).stream;
  /** `lost` hears of a dropped one only later. */
  const isOpen = (client: pg.Client) => !socketFrom(client).destroyed;

  /** Statements of one turn of the event loop leave in one write (docs/decisions/0008). */
  const gather = (client: pg.Client): pg.Client => {
    if (gathering.has(client)) return client;
    const stream = socketFrom(client);
    gathering.add(client);
    stream.cork();
    atTurnsEnd(() => {
      gathering.delete(client);
      stream.uncork();
    });
    return client;
  };

  return {
    client() {
      if (closed) return undefined;
      const [gatherer] = gathering;
      if (gatherer && isOpen(gatherer)) return gatherer;
      for (let tried = 0; tried < pipelinedConnections; tried++) {
        turn = (turn + 1) % pipelinedConnections;
        const connection = connections[turn];
        if (connection === undefined) open(turn);
        else if (typeof connection === 'object' && isOpen(connection)) return gather(connection);
      }
      return undefined;
    },
    drop: (client, reason) => void socketFrom(client).destroy(reason),
    async close() {
      closed = true;
      await Promise.all(connections.map((each) => typeof each === 'object' && each.end()));
    },
  };
};
