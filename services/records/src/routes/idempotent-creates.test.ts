import { anonymous, asUser, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('a record created with an Idempotency-Key', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('is created once for one key', async () => {
    const headers = { 'idempotency-key': 'once' };
    const send = (n: number) => bed.call('POST', '/db/once', { headers, body: { data: { n } } });
    const [first, second] = [await send(1), await send(1)];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
    expect((await send(2)).status).toBe(409);
    expect((await bed.call('GET', '/db/once/_count')).body).toEqual({ count: 1 });
  });

  /** On a cluster a call with a key is refused while another one has it. */
  const untilOver = async (send: () => ReturnType<TestBed['call']>) => {
    let answer = await send();
    while (bed.isCluster && answer.body?.code === 'idempotency_in_progress') answer = await send();
    return answer;
  };

  it('is created once by 20 calls at the same time, which get the same answer', async () => {
    const headers = { 'idempotency-key': 'at once' };
    await bed.create('race', { n: 0 });
    const calls = Array.from({ length: 20 }, () =>
      untilOver(() => bed.call('POST', '/db/race', { headers, body: { data: { n: 1 } } })),
    );
    const ids = (await Promise.all(calls)).map(({ status, body }) => [status, body.id]);
    expect(new Set(ids.map(String)).size).toBe(1);
    expect(ids[0]).toEqual([201, expect.any(String)]);
    expect((await bed.call('GET', '/db/race/_count')).body).toEqual({ count: 2 });
  });

  it('is created beside used keys that come at the same time: one is answered again, one refused', async () => {
    const send = (key: string, n: number) =>
      untilOver(() =>
        bed.call('POST', '/db/beside', {
          headers: { 'idempotency-key': key },
          body: { data: { n } },
        }),
      );
    const used = await send('beside 0', 0);
    const [again, ...others] = await Promise.all([
      send('beside 0', 0),
      send('beside 1', 1),
      ...[2, 3].map((n) => send('beside twice', n)),
      send('beside 4', 4),
    ]);
    expect(again).toMatchObject({ status: 201, body: used.body });
    const codes = others.map(({ body }) => body.code);
    expect(codes.toSorted()).toEqual(['idempotency_mismatch', ...Array(3)]);
    const { items } = (await bed.call('GET', '/db/beside?sort=n')).body;
    const created = [used, ...others.filter(({ status }) => status === 201)];
    expect(items).toEqual(created.map(({ body }) => body));
  });

  it('is its caller’s own and as it was sent where many are created at once, with keys and without', async () => {
    const made = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const identity = [asUser(ada), asUser(bob), anonymous()][n % 3] ?? anonymous();
        const headers: Record<string, string> = n % 2 ? { 'idempotency-key': `many ${n}` } : {};
        const call = { identity, headers, body: { data: { n, text: `"{\\,${n}é` } } };
        // On a busy machine a call may find no connection in time: it is sent again.
        const first = await until(async () => {
          const answer = await bed.call('POST', '/db/many', call);
          return answer.status !== 503 && answer;
        });
        if (n % 2) expect((await bed.call('POST', '/db/many', call)).body).toEqual(first.body);
        expect(first).toMatchObject({
          status: 201,
          body: { ...call.body.data, ownerId: identity.userId },
        });
        return first.body;
      }),
    );
    const { items } = (await bed.call('GET', '/db/many?sort=n&limit=100')).body;
    const ids = new Set(made.map(({ id }) => id));
    expect(items.filter(({ id }: { id: string }) => ids.has(id))).toEqual(made);
    const keyed = items.filter(({ n }: { n: number }) => n % 2 === 1);
    expect(keyed).toHaveLength(20);
  });
});
