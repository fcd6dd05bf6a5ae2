import { serviceApp } from '@backlot/http';
import { identitySecret } from '@backlot/identity';
import { serveForTest, testIdentitySecret } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import { unreadyServices } from './readiness.ts';

it('names services that are down, not ready, or on another identity secret', async () => {
  const start = (secret: typeof testIdentitySecret, ready: () => Promise<unknown>) =>
    serveForTest(
      serviceApp({
        routes: [],
        ready,
        idempotency: {} as never,
        identitySecret: secret,
        now: Date.now,
        log: { error: () => {} },
        checkResponses: false,
      }),
    );
  const well = await start(testIdentitySecret, async () => {});
  const broken = await start(testIdentitySecret, () => Promise.reject(new Error('no database')));
  const stranger = await start(
    identitySecret('another secret than the others have'),
    async () => {},
  );
  const services = [well, broken, stranger];
  const logged: unknown[] = [];
  const options = {
    identitySecret: testIdentitySecret,
    now: Date.now,
    log: { error: (fields: unknown) => void logged.push(fields) },
  };
  const origins = {
    auth: well.url,
    ai: broken.url,
    email: stranger.url,
    records: 'http://127.0.0.1:1',
  };
  expect(await unreadyServices(origins, options)).toEqual(['ai', 'email', 'records']);
  expect(logged).toEqual([{ service: 'email' }]);
  // Whoever asks without an identity, as Kubernetes does, learns of the service itself alone.
  expect((await fetch(`${stranger.url}/readyz`)).status).toBe(200);
  for (const service of services) await service.stop();
});
