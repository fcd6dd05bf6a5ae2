import { operatorRoutes } from '@backlot/contract';
import { asOperator, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, platform, type TestBed } from '../testing/test-bed.ts';

const identity = asOperator({ project: platform });
const hourMs = 3_600_000;
const idOf = (n: number) => n.toString(16).padStart(64, '0');

const at = (ms: number) => new Date(ms).toISOString();
const facts = (beganMs: number) => ({
  beganAt: at(beganMs),
  endedAt: at(beganMs + 60_000),
  release: '1.2.3',
  sizeBytes: 5_000_000_000,
  rows: 12,
  files: 3,
  lostFiles: 0,
  place: 'host-1:/backups/today',
  keyIds: ['0123456789abcdef'],
});

describe('back-ups that the installation knows of', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  refusesStrangers(
    operatorRoutes.listBackups,
    () => bed.http,
    () => ({ path: '/backups' }),
  );
  refusesStrangers(
    operatorRoutes.noteBackup,
    () => bed.http,
    () => ({ path: `/backups/${idOf(1)}`, body: facts(0) }),
  );

  const note = (n: number, body: object) =>
    bed.call('PUT', `/platform/backups/${idOf(n)}`, { identity, body });
  const list = async () => (await bed.call('GET', '/platform/backups', { identity })).body;
  const health = async () => {
    bed.pass(60_000);
    const { dependencies } = await bed.service.ready();
    return dependencies.find(({ name }: { name: string }) => name === 'backups');
  };

  it('are listed newest first, told twice once, and verified as of the last time', async () => {
    expect(await list()).toEqual({
      items: [],
      hasMore: false,
      nextCursor: null,
      overdueAt: null,
    });
    expect(await health()).toBeUndefined();
    const now = bed.now();
    const [first, second] = [facts(now - 2 * hourMs), facts(now - hourMs)];
    expect((await note(2, second)).body).toEqual({
      id: idOf(2),
      ...second,
      notedBy: 'bootstrap',
      verifiedAt: null,
      verifiedBy: null,
    });
    await note(1, first);
    const verified = { verifiedAt: at(bed.now()), verifiedBy: 'bootstrap' };
    expect((await note(2, { ...second, isVerified: true })).body).toMatchObject(verified);
    bed.pass(1000);
    await note(2, second);
    const { items, overdueAt } = await list();
    expect(items).toMatchObject([
      { id: idOf(2), ...verified },
      { id: idOf(1), verifiedAt: null },
    ]);
    expect(overdueAt).toBe(at(now - hourMs + 26 * hourMs));
  });

  it('Health warns once the last one is older than the setting, and no longer once there is another', async () => {
    await note(3, facts(bed.now()));
    expect(await health()).toMatchObject({ state: 'works' });
    bed.pass(26 * hourMs);
    expect(await health()).toMatchObject({ state: 'degraded', reason: 'overdue' });
    await note(4, facts(bed.now()));
    expect(await health()).toMatchObject({ state: 'works' });
  });

  it('are the newest hundred, and those told at once are all there', async () => {
    const from = bed.now();
    await Promise.all(Array.from({ length: 110 }, (_, n) => note(100 + n, facts(from + n))));
    const { items } = await list();
    expect(items.map(({ id }: { id: string }) => id)).toEqual(
      Array.from({ length: 100 }, (_, n) => idOf(209 - n)),
    );
  });

  it.each([
    { keyIds: ['a key'] },
    { sizeBytes: -1 },
    { beganAt: 'yesterday' },
    { files: undefined },
  ])('refuses %j', async (change) => {
    const answer = await note(300, { ...facts(bed.now()), ...change });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_body']);
  });
});
