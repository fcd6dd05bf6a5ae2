import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ExpectedBody, TransferPlace } from '../transfer-places.ts';
import { sendBody } from './send-body.ts';

const MIB = 1024 * 1024;

describe('a body that is sent', () => {
  let chunks: Iterable<Buffer> | AsyncIterable<Buffer>;
  let moved: number;
  let expected: ExpectedBody | undefined;
  let ended: Promise<void>;
  const place: TransferPlace = {
    expect(body) {
      expected = body;
      return () => {
        expected = undefined;
      };
    },
    moved(bytes) {
      moved += bytes;
    },
  };
  const server = createServer((_req, res: ServerResponse) => {
    ended = sendBody(res, place, { status: 200, headers: {} }, async () => Readable.from(chunks));
  });
  beforeEach(async () => {
    moved = 0;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => void server.close());

  /** Its answer is not read before the test does. */
  const open = async (): Promise<IncomingMessage> => {
    const { port } = server.address() as AddressInfo;
    const [res] = await once(request({ port, agent: false }).end(), 'response');
    return res as IncomingMessage;
  };

  it('waits for a caller who takes nothing, and gives way where its place is wanted', async () => {
    chunks = Array.from({ length: 64 }, () => Buffer.alloc(MIB, 1));
    const res = await open();
    await until(() => expected?.awaitsCaller());
    expect(moved).toBeLessThan(64 * MIB);
    expected?.giveWay();
    await expect(res.toArray()).rejects.toThrow('aborted');
    await ended;
    expect(expected).toBeUndefined();
  });

  it('waits for the caller at its end too', async () => {
    chunks = [Buffer.alloc(32 * MIB, 1)];
    const res = await open();
    await until(() => moved === 32 * MIB && expected?.awaitsCaller());
    const taken = Buffer.concat(await res.toArray());
    await ended;
    expect([taken.length, expected]).toEqual([32 * MIB, undefined]);
  });

  it('waits for nobody while the store gives nothing', async () => {
    let give = () => {};
    const given = new Promise<void>((resolve) => {
      give = resolve;
    });
    async function* source() {
      yield Buffer.from('some');
      await given;
      yield Buffer.from('more');
    }
    chunks = source();
    const res = await open();
    const [first] = await once(res, 'data');
    expect([String(first), expected?.awaitsCaller()]).toEqual(['some', false]);
    give();
    const [second] = await once(res, 'data');
    expect(String(second)).toBe('more');
    await ended;
  });
});
