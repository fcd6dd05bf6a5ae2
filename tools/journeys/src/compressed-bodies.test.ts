import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

const encoders = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};
const record = JSON.stringify({ data: { text: 'x'.repeat(1000) } });
const bomb = JSON.stringify({ data: { text: 'x'.repeat(8 * 1024 * 1024) } });

describe.each(usualModes)('compressed bodies, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
  });
  afterAll(() => platform.stop());

  it.each(Object.entries(encoders))(
    '%s is read, refused as broken or as too large',
    async (encoding, encode) => {
      const { api } = await platform.newProject();
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
      const whole = encode(Buffer.from(record));
      const statuses: number[] = [];
      for (const path of ['/db/things', '/email/send'])
        for (const body of [
          whole,
          Buffer.from('rubbish'),
          whole.subarray(0, -9),
          encode(Buffer.from(bomb)),
        ])
          statuses.push((await api('POST', path, { body, headers })).status);
      expect(statuses).toEqual([201, 400, 400, 413, 400, 400, 400, 413]);
    },
  );

  it('an unknown encoding and a list of them are 415', async () => {
    const { api } = await platform.newProject();
    for (const encoding of ['rot13', 'gzip, br']) {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
      const body = gzipSync(record);
      expect((await api('POST', '/db/things', { body, headers })).status).toBe(415);
    }
  });
});
