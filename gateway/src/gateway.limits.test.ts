import { gzipSync } from 'node:zlib';
import { type ClassLimits, defaultLimits } from '@backlot/contract';
import { afterEach, describe, expect, it } from '@jest/globals';
import { defaultAddressBounds } from './addresses/address-bounds.ts';
import {
  createTestBed,
  operatorToken,
  ownerId,
  projectSnapshot,
  secretKey,
  type TestBed,
  type TestBedOptions,
} from './testing/test-bed.ts';

const list = '/api/runtime/demo/db/notes';

describe('rate limits', () => {
  let bed: TestBed;
  const given = async (limits: Partial<ClassLimits>, options: TestBedOptions = {}) => {
    bed = await createTestBed(options);
    for (const [id, number] of [
      ['demo', 1001],
      ['platform', 1],
    ] as const) {
      bed.fake.projects.set(
        id,
        projectSnapshot({
          id,
          number,
          ownerId: id === 'demo' ? ownerId : null,
          limits: { ...defaultLimits, ...limits },
        }),
      );
    }
  };
  afterEach(() => bed.close());
  const status = async (token?: string, method = 'GET', path = list) =>
    (await bed.call(method, path, token === undefined ? {} : { token })).status;

  it('states both limits, and what is left, on success and on refusal', async () => {
    await given({ read: { perCaller: 2, perProject: 10 } });
    const first = await bed.call('GET', list);
    expect(first.headers.get('ratelimit-policy')).toBe('"caller";q=2;w=60, "project";q=10;w=60');
    expect(first.headers.get('ratelimit')).toBe('"caller";r=1;t=30, "project";r=7;t=6');
    await bed.call('GET', list);
    const refused = await bed.call('GET', list);
    expect(refused.status).toBe(429);
    expect(refused.body.code).toBe('rate_limited');
    expect(refused.headers.get('retry-after')).toBe('30');
    expect(refused.headers.get('ratelimit')).toBe('"caller";r=0;t=60, "project";r=4;t=12');
    bed.clock.now += 30_000;
    expect(await status()).toBe(200);
  });

  it('counts users apart, an owner, and everybody without a token by address', async () => {
    await given({ read: { perCaller: 1, perProject: 100 } });
    const callers = [
      undefined,
      bed.token({ sub: 'u1' }),
      bed.token({ sub: 'u2' }),
      bed.token({ aud: 'platform', sub: ownerId }),
    ];
    for (const token of callers)
      expect([await status(token), await status(token)]).toEqual([200, 429]);
  });

  it('holds keys and the operator to the project’s limit alone', async () => {
    await given({ read: { perCaller: 1, perProject: 4 } });
    for (const token of [secretKey, operatorToken, secretKey, operatorToken])
      expect(await status(token)).toBe(200);
    const refused = await bed.call('GET', list, { token: secretKey });
    expect([refused.status, refused.headers.get('ratelimit-policy')]).toEqual([
      429,
      '"project";q=4;w=60',
    ]);
  });

  it('counts reading and writing apart, and the control plane in the project "platform"', async () => {
    await given({
      read: { perCaller: 1, perProject: 100 },
      write: { perCaller: 1, perProject: 100 },
    });
    const owner = bed.token({ aud: 'platform', sub: ownerId });
    expect([
      await status(),
      await status(undefined, 'DELETE', `${list}/1`),
      await status(),
    ]).toEqual([200, 200, 429]);
    expect([
      await status(owner, 'GET', '/api/platform/projects/demo'),
      await status(owner),
    ]).toEqual([200, 200]);
    expect(await status(owner, 'GET', '/api/platform/projects')).toBe(429);
  });

  it('counts malformed calls, but no preflight and nothing outside the API', async () => {
    await given({
      write: { perCaller: 1, perProject: 100 },
      read: { perCaller: 1, perProject: 100 },
    });
    for (let n = 0; n < 3; n++) {
      expect(await status(undefined, 'OPTIONS')).toBe(204);
      expect(await status(undefined, 'GET', '/healthz')).toBe(200);
    }
    const large = { body: 'x'.repeat(600 * 1024) };
    expect((await bed.call('POST', '/api/runtime/demo/auth/signin', large)).status).toBe(413);
    expect((await bed.call('POST', '/api/runtime/demo/auth/signin', large)).status).toBe(429);
  });

  it('lets exactly the limit of many calls at once through', async () => {
    await given({ read: { perCaller: 7, perProject: 100 } });
    const answers = await Promise.all(Array.from({ length: 30 }, () => status()));
    expect(answers.filter((status) => status === 200)).toHaveLength(7);
  });

  describe('of a batch', () => {
    const operations = (count: number) => JSON.stringify({ delete: Array(count).fill('id') });
    const batch = async (body: string | Buffer, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${bed.url}${list}/_batch`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
      await answer.arrayBuffer();
      const [, left] = /"caller";r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '') ?? [];
      return { status: answer.status, left: Number(left) };
    };

    it('count one call for each started 20 operations', async () => {
      await given({ write: { perCaller: 60, perProject: 1000 } });
      expect(await batch(operations(20))).toEqual({ status: 200, left: 59 });
      expect(await batch(operations(21))).toEqual({ status: 200, left: 57 });
      expect(await batch(operations(500))).toEqual({ status: 200, left: 32 });
      expect(await batch(operations(500))).toEqual({ status: 200, left: 7 });
      expect(await batch(operations(500))).toEqual({ status: 429, left: 7 });
      expect(await batch(operations(140))).toEqual({ status: 200, left: 0 });
      expect(bed.seen.map(({ body }) => body)).toContain(operations(500));
    });

    it('count most for a body that is compressed or too large', async () => {
      await given({ write: { perCaller: 60, perProject: 1000 } });
      const gzip = { 'content-encoding': 'gzip' };
      expect(await batch(gzipSync(operations(1)), gzip)).toEqual({ status: 200, left: 35 });
      expect(await batch('x'.repeat(9 * 1024 * 1024))).toEqual({ status: 413, left: 10 });
    });

    it('use up an address’ calls as well', async () => {
      const addressBounds = { ...defaultAddressBounds, callers: 1 };
      await given({ write: { perCaller: 60, perProject: 1000 } }, { config: { addressBounds } });
      const as = (sub: string) => ({ authorization: `Bearer ${bed.token({ sub })}` });
      for (const sub of ['u1', 'u2', 'u3'])
        expect((await batch(operations(500), as(sub))).status).toBe(200);
      expect((await batch(operations(1), as('u4'))).status).toBe(429);
    });
  });

  it('knows an address behind trusted proxies, and is not told one by a caller', async () => {
    const behind = (address: string) =>
      bed
        .call('GET', list, { headers: { 'x-forwarded-for': address } })
        .then((answer) => answer.status);
    await given({ read: { perCaller: 1, perProject: 100 } }, { config: { trustedProxies: 1 } });
    expect([
      await behind('1.1.1.1'),
      await behind('2.2.2.2'),
      await behind('9.9.9.9, 2.2.2.2'),
    ]).toEqual([200, 200, 429]);
    await bed.close();
    await given({ read: { perCaller: 1, perProject: 100 } });
    expect([await behind('1.1.1.1'), await behind('2.2.2.2')]).toEqual([200, 429]);
  });
});
