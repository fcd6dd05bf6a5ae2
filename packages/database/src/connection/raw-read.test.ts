import { type AddressInfo, createConnection, createServer } from 'node:net';
import { createTestDatabase, until } from '@backlot/testing';
import { describe, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '../index.ts';

/** The first letters of the messages in what PostgreSQL has sent. */
const letters = (sent: Buffer): string => {
  if (sent.length === 0) return '';
  return String.fromCharCode(sent.readUInt8()) + letters(sent.subarray(1 + sent.readUInt32BE(1)));
};

it('a pipelined read gets its row, and not what the columns are', async () => {
  const server = await createTestDatabase();
  const { hostname, port } = new URL(server.url);
  let sent = Buffer.alloc(0);
  const proxy = createServer((socket) => {
    const upstream = createConnection(Number(port), hostname);
    upstream.on('data', (bytes: Buffer) => {
      sent = Buffer.concat([sent, bytes]);
    });
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = new URL(server.url);
  url.port = String((proxy.address() as AddressInfo).port);
  const database = createDatabase({ url: url.href, schema: 'unit' });
  // The first reads open the connections and prepare the statement.
  await until(async () => {
    sent = Buffer.alloc(0);
    await database.read('row', 'SELECT 1, $1::text', ['a']);
    return letters(sent) === '2DCZ';
  });
  await database.close();
  proxy.close();
  await server.drop();
});

describe('texts as bytes', () => {
  const withDatabase = async (work: (database: Database) => Promise<void>) => {
    const server = await createTestDatabase();
    const database = createDatabase({ url: server.url, schema: 'unit', poolSize: 1 });
    await work(database).finally(() => database.close());
    await server.drop();
  };
  const repeated = 'SELECT repeat($1, $2::int)';

  it('are what PostgreSQL sent, in memory of its own, and the connection goes on as before', () =>
    withDatabase(async (database) => {
      const sizes = [0, 1, 70_000, 3, 900_000, 300_000, 2];
      const all: (Buffer | undefined)[] = [];
      for (const size of sizes) {
        all.push(...(await database.bytes(repeated, ['ä', size])).flat());
        expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
      }
      expect(all.map((bytes) => bytes?.toString())).toEqual(sizes.map((size) => 'ä'.repeat(size)));
      for (const bytes of all) expect(bytes?.buffer.byteLength).toBe(bytes?.length);
    }));

  it('are in their column and row, or none', () =>
    withDatabase(async (database) => {
      const rows = await database.bytes("SELECT n, NULL, '' FROM generate_series(9, 11) n");
      expect(rows.map((row) => row.map((column) => column?.toString()))).toEqual(
        ['9', '10', '11'].map((n) => [n, undefined, '']),
      );
      expect(await database.bytes('SELECT 1 WHERE false')).toEqual([]);
    }));

  it('fail as any statement does, and rows are texts again behind it', () =>
    withDatabase(async (database) => {
      await expect(database.bytes('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' });
      expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    }));

  it('belong to the project that they are read in', () =>
    withDatabase(async (database) => {
      const scope = "SELECT current_setting('backlot.project', true)";
      const read = async () => (await database.bytes(scope)).toString();
      expect(await database.inProject(7, read)).toBe('7');
      expect(await read()).not.toBe('7');
    }));

  it('never are texts to V8', () =>
    withDatabase(async (database) => {
      const used = async (read: (text: string, values: unknown[]) => Promise<unknown>) => {
        await read(repeated, ['x', 1_000_000]);
        const before = process.memoryUsage().heapUsed;
        for (let turn = 0; turn < 5; turn++) await read(repeated, ['x', 1_000_000]);
        return process.memoryUsage().heapUsed - before;
      };
      // A collection of garbage in between hides what was made.
      await until(async () => (await used(database.query)) > 4_000_000);
      expect(await used(database.bytes)).toBeLessThan(1_000_000);
    }));
});
