import type { ServiceName } from '@backlot/contract';
import { type Dependency, type ServiceReadiness, serviceApp } from '@backlot/http';
import { gatewayKeys } from '@backlot/identity';
import { serveForTest, testIdentityKeys } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import { healthOfServices } from './services.ts';

const start = (name: ServiceName, ready: () => Promise<ServiceReadiness>, root?: string) =>
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

const options = (logged: unknown[]) => ({
  identityKeys: testIdentityKeys('gateway'),
  now: Date.now,
  log: { error: (fields: unknown) => void logged.push(fields) },
});

const serving: ServiceReadiness = { isServing: true, dependencies: [] };

it('says why a service serves nothing: it is away, not ready, or on another identity key', async () => {
  const well = await start('auth', async () => serving);
  const broken = await start('ai', () => Promise.reject(new Error('no database')));
  const stranger = await start('email', async () => serving, 'another root than the others have');
  const services = [well, broken, stranger];
  const logged: unknown[] = [];
  const origins = {
    auth: well.url,
    ai: broken.url,
    email: stranger.url,
    records: 'http://127.0.0.1:1',
  };
  expect(await healthOfServices(origins, options(logged))).toEqual([
    { service: 'auth', dependencies: [] },
    { service: 'ai', dependencies: [], reason: 'not_ready' },
    { service: 'email', dependencies: [], reason: 'refuses_identity' },
    { service: 'records', dependencies: [], reason: 'out_of_reach' },
  ]);
  expect(logged).toEqual([{ service: 'email' }]);
  // Whoever asks without an identity, as Kubernetes does, learns of the service itself alone.
  expect((await fetch(`${stranger.url}/readyz`)).status).toBe(200);
  for (const service of services) await service.stop();
});

it('tells the gateway of each dependency, and everybody else their names', async () => {
  const postgresql: Dependency = {
    name: 'postgresql',
    state: 'missing',
    reason: 'disk_full',
    since: '2026-01-01T00:00:00.000Z',
  };
  const service = await start('ai', async () => ({ isServing: true, dependencies: [postgresql] }));
  expect(await healthOfServices({ ai: service.url }, options([]))).toEqual([
    { service: 'ai', dependencies: [postgresql] },
  ]);
  expect(await (await fetch(`${service.url}/readyz`)).json()).toEqual({
    ok: true,
    missing: ['postgresql'],
  });
  await service.stop();
});
