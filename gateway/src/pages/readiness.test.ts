import type { ServiceName } from '@backlot/contract';
import { nothingMissing, type ServiceReadiness, serviceApp } from '@backlot/http';
import { gatewayKeys } from '@backlot/identity';
import { serveForTest, testIdentityKeys } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import { readinessOfServices } from './readiness.ts';

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

it('names services that are down, not ready, or on another identity key', async () => {
  const serving = { ...nothingMissing, isServing: true };
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
  expect(await readinessOfServices(origins, options(logged))).toEqual({
    ...nothingMissing,
    missing: ['ai', 'email', 'records'],
  });
  expect(logged).toEqual([{ service: 'email' }]);
  // Whoever asks without an identity, as Kubernetes does, learns of the service itself alone.
  expect((await fetch(`${stranger.url}/readyz`)).status).toBe(200);
  for (const service of services) await service.stop();
});

it('names what services miss, once, and knows one that serves without it', async () => {
  const postgresql = (isServing: boolean, reason: string): ServiceReadiness => ({
    isServing,
    missing: ['postgresql'],
    degraded: [],
    reasons: { postgresql: reason },
  });
  const states: Record<string, ServiceReadiness> = {
    auth: postgresql(true, 'disk_full'),
    ai: { ...postgresql(false, 'disk_full'), degraded: ['secrets'] },
    email: { ...nothingMissing, isServing: true, degraded: ['secrets', 'postgresql'] },
  };
  const services = await Promise.all(
    Object.entries(states).map(async ([name, state]) => {
      const service = await start(name as ServiceName, async () => state);
      return { name, ...service };
    }),
  );
  const origins = Object.fromEntries(services.map(({ name, url }) => [name, url]));
  expect(await readinessOfServices(origins, options([]))).toEqual({
    missing: ['postgresql', 'ai'],
    degraded: ['secrets'],
    reasons: { postgresql: 'disk_full' },
  });
  for (const service of services) await service.stop();
});
