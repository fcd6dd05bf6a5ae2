import pg from 'pg';
import { copyColumns, type MessageSocket } from './message-socket.ts';

/** Raw text of each column, in order; null for SQL null. */
export type TextRow = (string | null)[];

/** A statement with a name, which is prepared once for each connection. */
export interface PreparedRead {
  name: string;
  text: string;
  values: unknown[];
}

/** In place of pg's own query, which copies settings property by property and makes an event of each row. */
class RawRead extends pg.Query {
  readonly name: string;
  readonly #rows: TextRow[] = [];
  readonly #resolve: (rows: TextRow[]) => void;

  constructor(
    { name, text, values }: PreparedRead,
    resolve: (rows: TextRow[]) => void,
    reject: (error: unknown) => void,
  ) {
    super(text, values, reject);
    this.name = name;
    this.#resolve = resolve;
  }

  handleRowDescription(): void {}

  handleDataRow({ fields }: { fields: TextRow }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#resolve(this.#rows);
  }
}

/** Rejects with pg's error. */
export const readRaw = (client: pg.Client, read: PreparedRead): Promise<TextRow[]> =>
  new Promise((resolve, reject) => void client.query(new RawRead(read, resolve, reject)));

/** Columns as the texts that came. */
export const rawTypes: pg.CustomTypesConfig = { getTypeParser: () => (value: unknown) => value };

/** Columns of a row as UTF-8, in order; undefined for SQL null. */
export type BytesRow = (Buffer | undefined)[];

/** A connection that nothing else is under way on. */
export const readBytes = async (
  client: pg.ClientBase,
  text: string,
  values: unknown[],
): Promise<BytesRow[]> => {
  const socket = (client as unknown as { connection: { stream: MessageSocket } }).connection.stream;
  const read: BytesRow[] = [];
  socket.onRow = (row) => void read.push(copyColumns(row));
  try {
    const query = { text, values, rowMode: 'array', types: rawTypes } as const;
    const { rows } = await client.query<TextRow>(query);
    // Over TLS pg reads the rows.
    const texts = rows.map((row) =>
      row.map((text) => (text === null ? undefined : Buffer.from(text))),
    );
    return [...read, ...texts];
  } finally {
    socket.onRow = undefined;
  }
};
