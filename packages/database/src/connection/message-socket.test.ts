import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createTestDatabase, type TestDatabase } from '@backlot/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '../index.ts';
import { createMessageSocket } from './message-socket.ts';

const message = (length: number, letter: string) => {
  const bytes = Buffer.alloc(5 + length, letter);
  bytes.writeUInt32BE(4 + length, 1);
  return bytes;
};

it('hands on whole messages alone, however they were sent', async () => {
  const sent = [0, 3, 40, 0, 200, 1, 64].map((length, i) => message(length, 'abcdefg'.charAt(i)));
  const all = Buffer.concat(sent);
  const ends = new Set(sent.map((_, i) => Buffer.concat(sent.slice(0, i + 1)).length));
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer(accepted.resolve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Messages longer than its buffer, and some that fill it to its last byte.
  const socket = createMessageSocket(64);
  let got = Buffer.alloc(0);
  const wrong: number[] = [];
  socket.on('data', (bytes: Buffer) => {
    got = Buffer.concat([got, bytes]);
    if (!ends.has(got.length % all.length || all.length)) wrong.push(got.length);
  });
  socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
  const sender = (await accepted.promise).setNoDelay(true);

  const cuts = Array.from({ length: all.length }, (_, at) => at);
  for (const at of cuts) {
    const before = socket.bytesRead;
    sender.write(all.subarray(0, at));
    while (socket.bytesRead < before + at) await new Promise(setImmediate);
    sender.write(all.subarray(at));
    while (socket.bytesRead < before + all.length) await new Promise(setImmediate);
  }
  expect(wrong).toEqual([]);
  expect(got.equals(Buffer.concat(cuts.map(() => all)))).toBe(true);
  socket.destroy();
  server.close();
});

it('keeps the buffer of a large message for the next one, and that of a giant not', async () => {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer(accepted.resolve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = createMessageSocket(64);
  socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
  const sender = await accepted.promise;
  const bufferFor = async (length: number) => {
    sender.write(message(length, 'a'));
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    expect(bytes).toHaveLength(5 + length);
    return bytes.buffer.byteLength;
  };
  const sizes: number[] = [];
  for (const length of [600_000, 10, 2_000_000, 10]) sizes.push(await bufferFor(length));
  expect(sizes).toEqual([600_005, 600_005, 2_000_005, 64]);
  socket.destroy();
  server.close();
});

let server: TestDatabase;
let database: Database;
beforeAll(async () => {
  server = await createTestDatabase();
  database = createDatabase({ url: server.url, schema: 'unit' });
});
afterAll(async () => {
  await database.close();
  await server.drop();
});

it('answers of any size that follow each other closely are the right ones', async () => {
  const text = 'SELECT repeat($1, $2::int)';
  // Opens the pipelined connections.
  await database.read('repeat', text, ['a', 1]);
  const sizes = [0, 1, 8_000, 65_530, 70_000, 300_000, 900_000, 5, 51_000, 51_000, 51_000, 2];
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(
      sizes.map((size, i) => database.read('repeat', text, ['äbcdefghijkl'.charAt(i), size])),
    );
    const expected = sizes.map((size, i) => [['äbcdefghijkl'.charAt(i).repeat(size)]]);
    expect(answers.map(([row]) => row?.[0]?.length)).toEqual(sizes);
    expect(answers).toEqual(expected);
  }
});

it('large answers of the pool are read into the same buffers again', async () => {
  const read = () => database.query<{ text: string }>(`SELECT repeat('x', 500000) AS text`);
  await read();
  const before = process.memoryUsage().arrayBuffers;
  for (let turn = 0; turn < 10; turn++)
    expect((await read()).map(({ text }) => text.length)).toEqual([500_000]);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2_000_000);
});

it('a read that fails leaves those before and behind it their answers', async () => {
  const reads = [1, 0, 2].map((n) =>
    database.read('division', 'SELECT 10 / n, NULL FROM generate_series($1::int, 2) n', [n]),
  );
  const rows = [
    ['10', null],
    ['5', null],
  ];
  expect(await Promise.allSettled(reads)).toEqual([
    { status: 'fulfilled', value: rows },
    { status: 'rejected', reason: expect.objectContaining({ code: '22012' }) },
    { status: 'fulfilled', value: [['5', null]] },
  ]);
  expect(await database.read('none', 'SELECT 1 WHERE false')).toEqual([]);
});
