import { createTestProxy, until } from '@backlot/testing';
import { describe, expect, it } from '@jest/globals';
import { s3ConfigFor, startS3Store } from '../testing/s3-store.ts';
import { BlobStoreUnavailable } from './blob-store.ts';
import { createS3BlobStore } from './s3.ts';

async function* bytes(text: string) {
  yield Buffer.from(text);
}

describe('an S3 that is silent', () => {
  it('fails requests as unavailable, those under way too, until it answers again', async () => {
    const config = await s3ConfigFor();
    const direct = await startS3Store(config);
    const proxy = await createTestProxy(config.endpoint ?? '');
    const store = createS3BlobStore({ ...config, endpoint: proxy.url });
    await store.put('1001/a', bytes('text'));
    const expectUnavailable = () =>
      Promise.all(
        [
          store.sizeBytes('1001/a'),
          store.open('1001/a'),
          store.put('1001/b', bytes('more')),
          store.remove('1001/c'),
        ].map((request) => expect(request).rejects.toThrow(BlobStoreUnavailable)),
      );
    proxy.freeze();
    await expectUnavailable();
    // Each of these would wait for three tries of a second and more.
    for (let n = 0; n < 20; n++) await expectUnavailable();
    proxy.thaw();
    await until(async () => (await store.sizeBytes('1001/a')) === 4);
    await store.put('1001/b', bytes('more'));
    expect(await store.sizeBytes('1001/b')).toBe(4);
    for (const key of ['1001/a', '1001/b']) await store.remove(key);
    await store.close();
    await proxy.close();
    await direct.close();
  });
});
