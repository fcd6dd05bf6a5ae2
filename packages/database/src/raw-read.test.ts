import { type AddressInfo, createConnection, createServer } from 'node:net';
import { createTestDatabase, until } from '@backlot/testing';
import { it } from '@jest/globals';
import { createDatabase } from './index.ts';

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
    upstream.on('data', (bytes) => {
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
