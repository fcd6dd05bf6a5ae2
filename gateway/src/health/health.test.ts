import type { Dependency, Finding } from '@backlot/http';
import { createRegistry } from '@backlot/telemetry';
import { until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  operatorToken,
  ownerId,
  secretKey,
  type TestBed,
  userId,
} from '../testing/test-bed.ts';
import type { ServiceHealth } from './health.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const postgresql = (state: Dependency['state'], second: number, reason?: string): Dependency => ({
  name: 'postgresql',
  state,
  since: at(second),
  ...(reason !== undefined && { reason }),
});

describe('health', () => {
  let bed: TestBed;
  afterEach(() => bed.close());

  const given = async (
    services: () => Promise<readonly ServiceHealth[]>,
    servers: () => readonly Finding[] = () => [],
  ) => {
    bed = await createTestBed({ deps: { services, servers } });
    const later = () => {
      bed.clock.now += 1000;
    };
    const shown = async () => {
      const { status, body } = await bed.call('GET', '/api/platform/health', {
        token: operatorToken,
      });
      expect(status).toBe(200);
      return body;
    };
    return { later, shown };
  };

  it('is alive, and ready when nothing is missing', async () => {
    let look = async (): Promise<ServiceHealth[]> => [{ service: 'auth', dependencies: [] }];
    const { later } = await given(() => look());
    expect(await bed.call('GET', '/healthz')).toMatchObject({ status: 200, body: { ok: true } });
    expect((await bed.call('GET', '/readyz')).body).toEqual({ ok: true });
    look = async () => [
      { service: 'auth', dependencies: [postgresql('missing', 1, 'disk_full')] },
      { service: 'ai', dependencies: [], reason: 'out_of_reach' },
    ];
    later();
    // No stranger learns why.
    const refused = await bed.call('GET', '/readyz');
    expect([refused.status, refused.body]).toEqual([
      503,
      { ok: false, missing: ['ai', 'postgresql'] },
    ]);
    look = async () => [{ service: 'auth', dependencies: [postgresql('degraded', 2)] }];
    later();
    const served = await bed.call('GET', '/readyz');
    expect([served.status, served.body]).toEqual([200, { ok: true, degraded: ['postgresql'] }]);
    look = () => Promise.reject(new Error('broken'));
    later();
    expect((await bed.call('GET', '/readyz')).status).toBe(503);
    expect((await bed.call('GET', '/healthz')).status).toBe(200);
  });

  it('says by dependency since when, who finds it so, and what is affected', async () => {
    let look = async (): Promise<ServiceHealth[]> => [
      { service: 'auth', dependencies: [postgresql('missing', 7, 'out_of_reach')] },
      { service: 'ai', dependencies: [postgresql('missing', 5)] },
      { service: 'records', dependencies: [postgresql('works', 1)] },
    ];
    let redis: Finding['state'] = 'works';
    const { later, shown } = await given(
      () => look(),
      () => [{ name: 'redis', state: redis }],
    );
    const startedAt = new Date(bed.clock.now).toISOString();
    const first = await shown();
    expect(first).toMatchObject({ state: 'missing' });
    expect(first.dependencies[0]).toEqual({
      name: 'postgresql',
      state: 'missing',
      since: at(5),
      reason: 'out_of_reach',
      affects: expect.stringContaining('neither read nor written'),
      seenBy: ['auth', 'ai'],
    });
    const names = first.dependencies.map(({ name }: { name: string }) => name);
    expect(names.join()).toBe('postgresql,ai,auth,records,redis');
    look = async () => [{ service: 'auth', dependencies: [postgresql('works', 9)] }];
    redis = 'degraded';
    later();
    const second = await shown();
    expect(second).toMatchObject({ state: 'degraded' });
    const [least, ...others] = second.dependencies;
    expect(least).toMatchObject({
      name: 'redis',
      since: new Date(bed.clock.now).toISOString(),
      affects: expect.stringContaining('refused'),
      seenBy: ['gateway'],
    });
    expect(others).toMatchObject([
      { name: 'auth', state: 'works', since: startedAt },
      { name: 'postgresql', state: 'works', since: at(9) },
    ]);
    later();
    expect((await shown()).dependencies[0].since).toBe(least.since);
  });

  it('is shown by dependency to operators alone', async () => {
    const { shown } = await given(async () => []);
    await shown();
    const ask = async (token?: string) => {
      const { status, body } = await bed.call(
        'GET',
        '/api/platform/health',
        token ? { token } : {},
      );
      expect(body).not.toHaveProperty('dependencies');
      return [status, body.code];
    };
    expect(await ask()).toEqual([401, 'unauthenticated']);
    expect(await ask('bo_'.padEnd(46, 'x'))).toEqual([401, 'invalid_token']);
    expect(await ask(bed.token({ aud: 'platform', sub: ownerId, sid: 's1' }))).toEqual([
      403,
      'forbidden',
    ]);
    expect(await ask(bed.token({ aud: 'demo', sub: userId, sid: 's1' }))).toEqual([
      401,
      'invalid_token',
    ]);
    expect(await ask(secretKey)).toEqual([401, 'invalid_token']);
  });

  it('looks once a second, for all who ask', async () => {
    let looks = 0;
    let finish = () => {};
    const looked = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { later, shown } = await given(async () => {
      looks++;
      await looked;
      return [];
    });
    const asking = Array.from({ length: 20 }, () => bed.call('GET', '/readyz'));
    await until(() => looks > 0);
    bed.clock.now += 5000;
    asking.push(bed.call('GET', '/readyz'));
    finish();
    for (const answer of asking) expect((await answer).status).toBe(200);
    bed.clock.now += 999;
    await bed.call('GET', '/readyz');
    await shown();
    expect(looks).toBe(1);
    later();
    await bed.call('GET', '/readyz');
    expect(looks).toBe(2);
  });

  it('is shown in the metrics', async () => {
    const registry = createRegistry('gateway');
    bed = await createTestBed({
      deps: {
        registry,
        services: async () => [{ service: 'auth', dependencies: [postgresql('missing', 1)] }],
        servers: () => [{ name: 'redis', state: 'degraded' }],
      },
    });
    const text = await registry.metrics();
    const lines = text.split('\n').filter((line) => line.startsWith('backlot_dependency_works{'));
    expect(lines).toEqual([
      'backlot_dependency_works{dependency="postgresql",service="gateway"} 0',
      'backlot_dependency_works{dependency="redis",service="gateway"} 0.5',
      'backlot_dependency_works{dependency="auth",service="gateway"} 1',
    ]);
  });
});
