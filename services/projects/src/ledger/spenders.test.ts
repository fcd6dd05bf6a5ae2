import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { consumers, type UsageEvent, usageEvent } from '../testing/ledger.ts';
import { createTestBed, dayMs, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';
import { maxSpenders, spendersKeptDays } from './spenders.ts';

describe('who spends an owner’s credits', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ monthlyCredits: 100_000 });
    await bed.service.start();
  });
  afterAll(() => bed.close());

  const given = async () => {
    const id = await bed.project();
    const found = await bed.service.directories.projects.findProject(id);
    const project = { projectId: id, projectNumber: found?.number ?? 0 };
    const get = async (by: string, query = '', ownerId = ownerA) => {
      const answer = await bed.call('GET', `/platform/projects/${id}/usage?by=${by}${query}`, {
        identity: await bed.owner(ownerId, id),
      });
      return answer.status === 200 ? answer.body.items : answer.status;
    };
    const used = (changes: Partial<UsageEvent>) =>
      usageEvent(bed, ownerA, { ...project, ...changes });
    return { ...project, get, used };
  };
  const user = `user:${randomUUID()}`;

  it('is told by caller and by address, the dearest first, each call once', async () => {
    const { get, used } = await given();
    const [consume, other] = consumers(bed, 2);
    const address = '192.0.2.1';
    const calls = [
      used({ caller: user, address, millicredits: 3000 }),
      used({ caller: user, address: '192.0.2.2' }),
      used({ caller: 'visitor', address }),
      used({ caller: 'owner' }),
      used({}),
    ];
    await Promise.all([...calls, ...calls].flatMap((call) => [consume?.(call), other?.(call)]));
    expect(await get('caller')).toEqual([
      { caller: user, calls: 2, millicredits: 4000 },
      { caller: 'owner', calls: 1, millicredits: 1000 },
      { caller: 'visitor', calls: 1, millicredits: 1000 },
    ]);
    expect(await get('address')).toEqual([
      { address, calls: 2, millicredits: 4000 },
      { address: '192.0.2.2', calls: 1, millicredits: 1000 },
    ]);
    expect(await get('caller', '', ownerB)).toBe(404);
    expect(await get('address', '&to=2020-01-01&from=2020-01-01')).toEqual([]);
  });

  it('stays within a bound a day, past which all are counted together', async () => {
    const { get, used } = await given();
    const [consume] = consumers(bed, 1);
    const names = Array.from({ length: maxSpenders + 250 }, (_, n) => `192.0.2.${n}`);
    await Promise.all(names.map((address) => consume?.(used({ caller: 'visitor', address }))));
    await consume?.(used({ caller: 'visitor', address: '192.0.2.0' }));
    await consume?.(used({ caller: 'visitor', address: '198.51.100.1' }));
    const items: { address: string | null; calls: number }[] = await get('address');
    const sum = items.reduce((all, { calls }) => all + calls, 0);
    expect(items.length).toBeLessThanOrEqual(maxSpenders);
    expect(items.find(({ address }) => address === null)?.calls).toBeGreaterThan(100);
    expect(items.some(({ address }) => address === '198.51.100.1')).toBe(false);
    const [row] = await bed.database.query<{ count: number; calls: number }>(
      "SELECT count(*), sum(calls)::int8 AS calls FROM spenders WHERE kind = 'address' AND name LIKE '192.0.2.%' OR name = ''",
    );
    expect(row?.count).toBeLessThan(maxSpenders + 150);
    expect(sum).toBeLessThanOrEqual(names.length + 2);
  });

  it('counts a guest who is merged as the user, once, however often that is told', async () => {
    const { get, used, projectId, projectNumber } = await given();
    const [consume] = consumers(bed, 1);
    const guestId = randomUUID();
    await consume?.(used({ caller: user }));
    await consume?.(used({ caller: `user:${guestId}` }));
    await consume?.(used({ caller: 'owner' }));
    const payload = { projectId, projectNumber, guestId, userId: user.slice(5) };
    for (let times = 0; times < 2; times++)
      await bed.publish({ id: randomUUID(), topic: 'user.merged', payload });
    expect(await get('caller')).toEqual([
      { caller: user, calls: 2, millicredits: 2000 },
      { caller: 'owner', calls: 1, millicredits: 1000 },
    ]);
  });

  it('forgets a user who is erased, and everybody after 30 days', async () => {
    const { get, used, projectId, projectNumber } = await given();
    const [consume] = consumers(bed, 1);
    await consume?.(used({ caller: user, address: '192.0.2.1' }));
    await consume?.(used({ caller: 'owner' }));
    await bed.publish({
      id: randomUUID(),
      topic: 'user.erased',
      payload: { projectId, projectNumber, userId: user.slice(5), email: 'a@example.org' },
    });
    expect(await get('caller')).toEqual([{ caller: 'owner', calls: 1, millicredits: 1000 }]);
    const from = `&from=${new Date(bed.now()).toISOString().slice(0, 10)}`;
    bed.pass((spendersKeptDays + 1) * dayMs);
    while (await bed.service.forgetSpenders());
    expect(await get('address', from)).toEqual([]);
  });
});
