import { expect, it } from '@jest/globals';
import { createOrderCheck, type Entry } from './entry.ts';
import { readTar, writeTar } from './tar.ts';

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
const entry = (name: string, text: string): Entry => ({
  name,
  sizeBytes: Buffer.byteLength(text),
  content: bytes(text),
});

async function* pieces(entries: AsyncIterable<Entry>): AsyncGenerator<Buffer> {
  const parts = writeTar(entries);
  try {
    for (;;) {
      const part = await parts.next();
      if (part === undefined) return;
      yield Buffer.from(part);
    }
  } finally {
    parts.close();
  }
}

it('writes an archive at the pace of who reads it', async () => {
  let made = 0;
  async function* endless(): AsyncGenerator<Entry> {
    for (;;) yield entry(`users/${++made}`, 'a'.repeat(100_000));
  }
  let read = 0;
  for await (const piece of pieces(endless())) {
    read += piece.byteLength;
    expect(made - read / 100_000).toBeLessThan(4);
    if (read > 5_000_000) break;
  }
  const madeAtEnd = made;
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(made - madeAtEnd).toBeLessThan(2);
});

it('reads what it has written, in pieces of any size', async () => {
  async function* all(): AsyncGenerator<Entry> {
    yield entry('manifest.json', '{}');
    yield entry('empty', '');
    yield entry('config.json', 'x'.repeat(1500));
  }
  const written: Buffer[] = [];
  for await (const piece of pieces(all())) written.push(piece);
  const archive = Buffer.concat(written);
  for (const size of [1, 511, 512, 100_000]) {
    async function* cut(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < archive.length; at += size) yield archive.subarray(at, at + size);
    }
    const found: [string, number][] = [];
    for await (const { name, content } of readTar(cut())) {
      let sizeBytes = 0;
      for await (const piece of content) sizeBytes += piece.byteLength;
      found.push([name, sizeBytes]);
    }
    expect(found).toEqual([
      ['manifest.json', 2],
      ['empty', 0],
      ['config.json', 1500],
    ]);
  }
});

it('takes no million of entries', () => {
  const check = createOrderCheck();
  check('manifest.json');
  check('files/000001.ndjson');
  const all = () => {
    for (let at = 0; at < 1_000_000; at += 1) check('content/018f0000-0000-7000-8000-0000000000f1');
  };
  expect(all).toThrow('is not where an export has it');
});
