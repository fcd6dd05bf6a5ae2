import type { ServiceName } from '@backlot/contract';
import { serviceApp } from '@backlot/http';
import { gatewayKeys } from '@backlot/identity';
import { serveForTest, testIdentityKeys } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import { unreadyServices } from './readiness.ts';

it('names services that are down, not ready, or on another identity key', async () => {
  const start = (name: ServiceName, ready: () => Promise<unknown>, root?: string) =>
    serveForTest(
      serviceApp({
        routes: [],
        ready,
        idempotency: {} as never,
        gatewayKeys: gatewayKeys(testIdentityKeys(name, root), name),
        now: Date.now,
        log: { error: () => {} },
        checkResponses: false,
      }),
    );
  const well = await start('auth', async () => {});
  const broken = await start('ai', () => Promise.reject(new Error('no database')));
  const stranger = await start('email', async () => {}, 'another root than the others have');
  const services = [well, broken, stranger];
  const logged: unknown[] = [];
  const options = {
    identityKeys: testIdentityKeys('gateway'),
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
