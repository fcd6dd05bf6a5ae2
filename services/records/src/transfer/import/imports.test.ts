import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { asKey, until } from '@backlot/testing';
import { describe, expect, it } from '@jest/globals';
import type { Collection, Collections } from '../../collections/collections.ts';
import type { ImportOptions } from './import-call.ts';
import { createImports } from './imports.ts';
import type { NewLine } from './write-lines.ts';

const options: ImportOptions = {
  id: '018f0000-0000-7000-8000-0000000000f1',
  collection: 'notes',
  format: 'ndjson',
  from: 1,
  firstLine: undefined,
  types: {},
  idField: undefined,
  dropsUnknownOwners: false,
  isDryRun: false,
  source: { actor: 'test', requestId: null },
};

/** Imports whose lines are written by the test. */
const importsWith = (write: (lines: readonly NewLine[]) => Promise<unknown>, readMs?: number) => {
  const collection = { projectNumber: 1, id: 1, name: 'notes', access: 'shared' } as Collection;
  const find = async () => collection;
  const imports = createImports({
    collections: { find, findOrCreate: find } as unknown as Collections,
    lines: {
      async write(_target, lines) {
        await write(lines);
        return { created: lines.length, skipped: 0, failed: [] };
      },
    },
    owners: { find: async () => new Set() },
    personal: { notice() {} },
    now: Date.now,
    ...(readMs !== undefined && { readMs }),
  });
  return (body: Readable, changes: Partial<ImportOptions> = {}) =>
    imports.run(
      body as IncomingMessage,
      asKey(),
      { ...options, ...changes },
      {
        requester: ['owner', 'project', 'address'],
      },
    );
};

describe('a body', () => {
  it.each([
    ['ndjson', '{"n":1}\n'],
    ['csv', '"text"\n'],
  ] as const)('of %s is read no faster than its lines are written', async (format, line) => {
    const chunk = Buffer.from(line.repeat(8 * 1024));
    let sentBytes = 0;
    let writes = 0;
    let goOn = () => {};
    let isOver = false;
    const run = importsWith(async () => {
      writes += 1;
      if (isOver) throw new Error('over');
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    });
    const endless = Readable.from(
      (function* () {
        for (;;) {
          sentBytes += chunk.length;
          yield chunk;
        }
      })(),
    );
    const ended = run(endless, { format }).catch(String);
    for (let n = 1; n <= 40; n++) {
      await until(() => writes === n);
      expect(sentBytes).toBeLessThan(n * 500 * line.length + 2 ** 22);
      isOver = n === 40;
      goOn();
    }
    expect(await ended).toBe('Error: over');
    endless.destroy();
  });

  it('that does not end in time is answered with the line to go on with', async () => {
    const made: number[] = [];
    const run = importsWith(async (lines) => made.push(...lines.map(({ line }) => line)), 200);
    const stalls = (text: string) =>
      Readable.from(
        (async function* () {
          yield Buffer.from(text);
          await new Promise(() => {});
        })(),
      );
    expect(await run(stalls('{"n":1}\n\n{"n":3}\n{"n":'))).toMatchObject({ created: 2, next: 4 });
    const csv = { format: 'csv', firstLine: 11 } as const;
    expect(await run(stalls('n,t\n1,"a\nb"\n2,"c'), csv)).toMatchObject({ created: 1, next: 13 });
    expect(made).toEqual([1, 3, 11]);
    await expect(run(stalls('{"n":'))).rejects.toMatchObject({ code: 'request_timeout' });
  });
});
