import { type ClassLimits, defaultLimits } from '@backlot/contract';
import { createRegistry } from '@backlot/telemetry';
import { until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { defaultAddressBounds } from './addresses/address-bounds.ts';
import {
  createTestBed,
  ownerId,
  projectSnapshot,
  secretKey,
  type TestBed,
} from './testing/test-bed.ts';

const list = '/api/runtime/demo/db/notes';
const control = '/api/platform/projects';
const attacker = '203.0.113.1';

describe('what one network address may use of a project', () => {
  let bed: TestBed;
  afterEach(() => bed.close());

  const given = async (limits: Partial<ClassLimits>, bounds = {}) => {
    bed = await createTestBed({
      config: { trustedProxies: 1, addressBounds: { ...defaultAddressBounds, ...bounds } },
    });
    const changes = { limits: { ...defaultLimits, ...limits } };
    for (const project of [
      { id: 'demo', number: 1001 },
      { id: 'platform', number: 1, ownerId: null },
    ])
      bed.fake.projects.set(project.id, projectSnapshot({ ...project, ...changes }));
  };
  const from = async (address: string, path: string, token?: string) => {
    const headers = { 'x-forwarded-for': address };
    const answer = await bed.call('GET', path, { headers, ...(token && { token }) });
    return answer.status;
  };
  /** How many of so many calls got through. */
  const passed = async (count: number, call: (n: number) => Promise<number>) => {
    let got = 0;
    for (let n = 0; n < count; n++) {
      const status = await call(n);
      expect([200, 429]).toContain(status);
      if (status === 200) got++;
    }
    return got;
  };
  const minutesAgo = (minutes: number) => Math.floor(bed.clock.now / 1000) - 60 * minutes;

  describe.each([
    ['project', list, 'demo'],
    ['control plane', control, 'platform'],
  ])('a %s', (_what, path, aud) => {
    const account = (n: number, minutes = 0) =>
      bed.token({ aud, sub: `account-${n}`, sid: `s${n}`, iat: minutesAgo(minutes) });

    it.each([0, 60])('is not spent by 20 accounts of one address, %i minutes old', async (age) => {
      await given({ read: { perCaller: 10, perProject: 100 } });
      const spent = await passed(100, (n) => from(attacker, path, account(n % 20, age)));
      expect(spent).toBeGreaterThanOrEqual(40);
      expect(spent).toBeLessThanOrEqual(50);
      // A stranger who has just signed up elsewhere, and one who has been there for long.
      expect(await passed(10, () => from('198.51.100.1', path, account(21)))).toBe(10);
      expect(await passed(10, () => from('198.51.100.2', path, account(22, 60)))).toBe(10);
    });

    it('is not spent by 20 addresses', async () => {
      await given({ read: { perCaller: 100, perProject: 200 } });
      for (let round = 0; round < 12; round++)
        for (let n = 0; n < 20; n++) await from(`203.0.113.${n}`, path, account(n));
      expect(await passed(3, () => from('198.51.100.1', path, account(21)))).toBe(3);
      expect(await passed(15, () => from('198.51.100.2', path, account(22, 60)))).toBe(15);
    });
  });

  it('is not all of it: anonymous callers of one address leave half of what they may use', async () => {
    await given({ read: { perCaller: 100, perProject: 100 } });
    expect(await passed(50, () => from(attacker, list))).toBe(40);
    expect(await passed(10, () => from('198.51.100.1', list))).toBe(10);
  });

  it('is a number of callers, whatever the project has left, and keys do not count', async () => {
    await given({ read: { perCaller: 5, perProject: 10_000 } }, { callers: 3 });
    const users = Array.from({ length: 5 }, (_, n) => bed.token({ sub: `u${n}` }));
    expect(await passed(25, (n) => from(attacker, list, users[n % 5]))).toBe(15);
    expect(await passed(20, () => from(attacker, list, secretKey))).toBe(20);
    // What the address refused has not used up the account's own limit.
    expect(await from('198.51.100.1', list, users[0])).toBe(200);
    bed.clock.now += 60_000;
    expect(await from(attacker, list, users[0])).toBe(200);
  });

  it('leaves a fifth to sessions of more than ten minutes, the owner and keys', async () => {
    await given({ read: { perCaller: 50, perProject: 100 } });
    // So many addresses that each leaves enough to the next one.
    const strangers = await passed(90, (n) => from(`2001:db8:0:${n}::1`, list));
    expect(strangers).toBe(80);
    const session = (minutes: number) =>
      bed.token({ sub: `user-${minutes}`, sid: `s${minutes}`, iat: minutesAgo(minutes) });
    expect(await from('198.51.100.1', list, session(9))).toBe(429);
    expect(await passed(5, () => from('198.51.100.1', list, session(10)))).toBe(5);
    const owner = bed.token({ aud: 'platform', sub: ownerId });
    expect(await passed(5, () => from(attacker, list, owner))).toBe(5);
    expect(await passed(5, () => from(attacker, list, secretKey))).toBe(5);
    expect(await passed(20, () => from(attacker, list, secretKey))).toBe(5);
  });

  it('shows in the metrics where it was refused', async () => {
    const registry = createRegistry('gateway');
    bed = await createTestBed({
      deps: { registry },
      config: { addressBounds: { ...defaultAddressBounds, callers: 1, failedLookups: 1 } },
    });
    const limits = { ...defaultLimits, read: { perCaller: 1, perProject: 100 } };
    bed.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, limits }));
    for (let n = 0; n < 3; n++)
      await bed.call('GET', list, { token: bed.token({ sub: `u${n}`, sid: `s${n}` }) });
    for (let n = 0; n < 3; n++) await bed.call('GET', `/api/runtime/none${n}/db/notes`);
    const shown = await registry.metrics();
    expect(shown).toMatch(/backlot_address_refusals_total\{bound="calls",[^}]*\} 2\n/);
    expect(shown).toMatch(/backlot_address_refusals_total\{bound="lookups",[^}]*\} 2\n/);
  });

  it('counts IPv6 by the /64', async () => {
    await given({ read: { perCaller: 100, perProject: 100 } });
    expect(await passed(50, (n) => from(`2001:db8::${n + 1}`, list))).toBe(40);
  });
});

describe('look-ups of one network address that find nothing', () => {
  let bed: TestBed;
  afterEach(() => bed.close());
  const given = async () => {
    bed = await createTestBed({
      config: {
        trustedProxies: 1,
        addressBounds: { ...defaultAddressBounds, failedLookups: 20 },
      },
    });
  };
  const from = (address: string, path: string, token?: string) =>
    bed.call('GET', path, {
      headers: { 'x-forwarded-for': address },
      ...(token !== undefined && { token }),
    });
  const madeUpKey = (n: number) => `bk_${String(n).padStart(43, 'k')}`;

  it.each([
    ['unknown projects', 404, (n: number) => from(attacker, `/api/runtime/none${n}/db/notes`)],
    ['made-up keys', 401, (n: number) => from(attacker, list, madeUpKey(n))],
    ['made-up tokens', 401, (n: number) => from(attacker, list, bed.token({ kid: n, iss: 'x' }))],
    ['made-up keys of files', 200, (n: number) => from(attacker, `${file}${n}`, madeUpKey(n))],
  ])('are bounded: %s', async (_what, status, ask) => {
    await given();
    for (let n = 0; n < 20; n++) expect((await ask(n)).status).toBe(status);
    const asked = bed.fake.asked.length;
    for (let n = 20; n < 60; n++) {
      const { status, body, headers } = await ask(n);
      expect([status, body.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '4']);
    }
    expect(bed.fake.asked).toHaveLength(asked);
    bed.clock.now += 4000;
    expect((await ask(60)).status).toBe(status);
  });
  const file = '/api/runtime/demo/storage/files/1/';

  it('stop nobody elsewhere, and nothing on the address that is known', async () => {
    await given();
    const token = bed.token();
    expect((await from(attacker, list, token)).status).toBe(200);
    for (let n = 0; n < 30; n++) await from(attacker, list, madeUpKey(n));
    expect((await from(attacker, list, madeUpKey(99))).status).toBe(429);
    expect((await from(attacker, list, token)).status).toBe(200);
    expect((await from(attacker, list)).status).toBe(200);
    expect((await from('198.51.100.1', list, bed.token({ sid: 's2' }))).status).toBe(200);
    expect((await from('198.51.100.1', list, madeUpKey(99))).status).toBe(401);
  });

  it('are counted while they are under way, and what is found is not counted', async () => {
    await given();
    let answer = () => {};
    bed.fake.gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await Promise.resolve();
    const asking = Array.from({ length: 40 }, (_, n) =>
      from(attacker, `/api/runtime/none${n}/db/notes`),
    );
    const first = await Promise.race(asking);
    expect(first.status).toBe(429);
    answer();
    const statuses = (await Promise.all(asking)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 404)).toHaveLength(20);
    bed.fake.gate = undefined;
    bed.clock.now += 600_000;
    for (let n = 0; n < 40; n++)
      expect((await from(attacker, list, bed.token({ sid: `s${n}` }))).status).toBe(200);
  });
});

describe('pages for one network address', () => {
  let bed: TestBed;
  afterEach(() => bed.close());

  it('are as many a minute as it may have, and stop neither others nor questions for health', async () => {
    bed = await createTestBed({
      config: { trustedProxies: 1, addressBounds: { ...defaultAddressBounds, pages: 3 } },
    });
    const from = async (address: string, path: string) =>
      (await bed.call('GET', path, { headers: { 'x-forwarded-for': address } })).status;
    for (const path of ['/llms.txt', '/docs', '/none'])
      expect(await from(attacker, path)).not.toBe(429);
    for (const path of ['/llms.txt', '/', '/none', '/examples/shop/', '/sdk.js'])
      expect(await from(attacker, path)).toBe(429);
    expect(await from('198.51.100.1', '/llms.txt')).toBe(200);
    for (const path of ['/healthz', '/readyz', list]) expect(await from(attacker, path)).toBe(200);
    bed.clock.now += 600_000;
    expect(await from(attacker, '/llms.txt')).toBe(200);
  });
});

describe('refusals of one network address', () => {
  let bed: TestBed;
  afterEach(() => bed.close());

  it('wait past a burst, while what is not refused, and others, do not', async () => {
    const waiting: (() => void)[] = [];
    const after = (_ms: number, answer: () => void) => waiting.push(answer);
    bed = await createTestBed({
      config: { trustedProxies: 1 },
      deps: { refusalClock: { now: () => bed.clock.now, after } },
    });
    const from = async (address: string, path: string, token?: string) => {
      const headers = { 'x-forwarded-for': address };
      return (await bed.call('GET', path, { headers, ...(token && { token }) })).status;
    };
    const unknown = '/api/runtime/none/db/notes';
    for (let n = 0; n < 10; n++) expect(await from(attacker, unknown)).toBe(404);
    const late = [
      from(attacker, unknown),
      from(attacker, list, 'made-up'),
      from(attacker, '/api/runtime/demo/none'),
      from(attacker, '/none'),
      from(attacker, '/api/runtime/demo/auth/signin'),
    ];
    await until(() => waiting.length === late.length);
    expect(await from(attacker, list)).toBe(200);
    expect(await from('198.51.100.1', unknown)).toBe(404);
    for (const answer of waiting) answer();
    expect(await Promise.all(late)).toEqual([404, 401, 404, 404, 405]);
  });
});
