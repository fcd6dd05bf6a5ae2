import { randomUUID } from 'node:crypto';
import { asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eraseProject } from '../erasure/erase-project.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { eraseUserLog } from './erase-log.ts';
import { beginLog, keepLogBytes, keepLogDays } from './keep-log.ts';
import { beforeTransaction, type LogPosition } from './position.ts';
import { type LogEntry, readLog } from './read-log.ts';

const projectNumber = testProject.number;
const start = beforeTransaction('0');

describe('the log of changes', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  beforeEach(() => eraseProject(bed.database, projectNumber));

  const readAll = async (after: LogPosition = start, limit = 500) => {
    const all: LogEntry[] = [];
    for (let place = after; ; ) {
      const { entries, end, hasMore } = await readLog(bed.database, {
        projectNumber,
        after: place,
        limit,
      });
      all.push(...entries);
      place = end;
      if (!hasMore) return { all, end };
    }
  };
  /** Once no other transaction of the server is under way. */
  const readUntil = (count: number, limit?: number) =>
    until(async () => {
      const { all } = await readAll(start, limit);
      return all.length >= count && all;
    });
  const path = (id: string) => `/db/notes/${id}`;
  const asAda = asUser(ada);
  const headers = { 'x-request-id': 'request-1' };

  it('has each change once, with what was there before, and who has made it by which call', async () => {
    const { id } = await bed.create('notes', { n: 1 }, asAda);
    await bed.call('PATCH', path(id), { identity: asAda, body: { data: { n: 2 } }, headers });
    await bed.call('PUT', path(id), { identity: asKey(), body: { data: { m: 3 } } });
    await bed.call('DELETE', path(id), { identity: asOwner() });
    const all = await readUntil(4);
    expect(all.map(({ kind, actor, before, now }) => [kind, actor, before?.data, now])).toEqual([
      ['create', `user:${ada}`, undefined, null],
      ['update', `user:${ada}`, '{"n": 1}', null],
      ['update', expect.stringMatching(/^key:/), '{"n": 2}', null],
      ['delete', 'owner', '{"m": 3}', null],
    ]);
    expect(all.map(({ recordId }) => recordId)).toEqual([id, id, id, id]);
    expect(all[1]?.requestId).toBe('request-1');
    expect(all[3]?.before?.ownerId).toBe(ada);
    const times = all.map(({ changedAt }) => changedAt);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it('has every record of a batch, of writes that were put together, and of a deletion by a filter', async () => {
    const create = Array.from({ length: 40 }, (_, n) => ({ data: { n } }));
    const identity = asOwner();
    await bed.call('POST', '/db/notes/_batch', { identity, body: { create } });
    const callers = Array.from({ length: 30 }, (_, n) => (n % 2 ? asAda : asUser(bob)));
    const made = await Promise.all(callers.map((caller, n) => bed.create('notes', { n }, caller)));
    await Promise.all(
      made.map(({ id }, n) =>
        bed.call('PATCH', path(id), {
          identity: callers[n] ?? null,
          body: { data: { seen: true } },
        }),
      ),
    );
    const where = encodeURIComponent('{"n":{"$gte":0}}');
    await bed.call('DELETE', `/db/notes?where=${where}`, { identity });
    const all = await readUntil(40 + 30 + 30 + 70, 7);
    const count = (kind: string, actor: string) =>
      all.filter((entry) => entry.kind === kind && entry.actor === actor).length;
    expect(count('create', 'owner')).toBe(40);
    for (const user of [ada, bob]) {
      expect(count('create', `user:${user}`)).toBe(15);
      expect(count('update', `user:${user}`)).toBe(15);
    }
    expect(count('delete', 'owner')).toBe(70);
    expect(new Set(all.map(({ position }) => JSON.stringify(position))).size).toBe(170);
  });

  it('is never read past a transaction that is still under way', async () => {
    const slow = bed.ownerDatabase;
    await bed.create('notes', { n: 0 });
    await readUntil(1);
    const [{ coll_id: coll } = { coll_id: 0 }] = await bed.database.query<{ coll_id: number }>(
      'SELECT coll_id FROM collections WHERE project_id = $1',
      [projectNumber],
    );
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const earlier = slow.transaction(async () => {
      await slow.query(
        `INSERT INTO records.changes (slot, project_id, coll_id, record_id, xid, seq, kind, changed_at)
         SELECT 0, project_id, coll_id, id, records.change_xid(id), 1, 'c', updated_at FROM records.records
          WHERE project_id = $1 AND coll_id = $2`,
        [projectNumber, coll],
      );
      begun();
      await finished;
    });
    await hasBegun;
    await bed.create('notes', { n: 1 });
    const { all, end } = await readAll();
    expect(all).toHaveLength(1);
    finish();
    await earlier;
    await until(async () => (await readAll(end)).all.length === 2);
  });

  it('is written for no collection that has switched it off', async () => {
    const collection = `/platform/projects/${testProject.id}/collections/notes`;
    await bed.call('PUT', collection, { identity: asOwner(), body: { history: false } });
    await bed.create('notes', { n: 1 });
    await bed.create('others', { n: 1 });
    expect(await readUntil(1)).toHaveLength(1);
  });

  it('ends with its days, and no day too early', async () => {
    await bed.create('notes', { n: 1 });
    await readUntil(1);
    const day = 24 * 60 * 60 * 1000;
    const limits = { days: 7, bytes: 0 };
    for (const [days, left] of [
      [0, 1],
      [7, 1],
      [9, 0],
    ] as const) {
      await keepLogDays(bed.ownerDatabase, limits, () => Date.now() + days * day);
      expect((await readAll()).all).toHaveLength(left);
    }
  });

  it('keeps the newest where there is too much, and says to who reads from before that it does', async () => {
    for (let n = 0; n < 20; n++) {
      const { id } = await bed.create('notes', { text: 'x'.repeat(1000) });
      await bed.call('PATCH', path(id), { body: { data: { n } } });
    }
    const all = await readUntil(40);
    await keepLogBytes(bed.database, { days: 7, bytes: 16_000 });
    const { all: left } = await readAll();
    expect(left.length).toBeGreaterThan(5);
    expect(left).toEqual(all.slice(-left.length));
    const after = start;
    expect((await readLog(bed.database, { projectNumber, after, limit: 1 })).isGone).toBe(true);
    const last = left.at(-1)?.position ?? start;
    const ahead = await readLog(bed.database, { projectNumber, after: last, limit: 1 });
    expect(ahead.isGone).toBe(false);
  });

  it('is emptied where a backup was read by a server that counts anew: what was told goes on, and no undo seems done', async () => {
    await bed.create('notes', { n: 1 });
    await readUntil(1);
    const since = new Date().toISOString();
    const ahead = '4611686018427387904';
    const owner = bed.ownerDatabase;
    await owner.query('UPDATE records.log_clock SET xid = $1::xid8', [ahead]);
    await owner.query(
      `INSERT INTO records.told_projects (project_id, version, wants, xid, seq, record_id)
       VALUES ($1, 1, '[]', $2::xid8, 0, uuidv7())`,
      [projectNumber, ahead],
    );
    const old = { xid: ahead, seq: 0, recordId: randomUUID() };
    const gone = await readLog(bed.database, { projectNumber, after: old, limit: 1 });
    expect(gone.isGone).toBe(true);
    await beginLog(bed.database);
    expect((await readAll()).all).toEqual([]);
    const told = 'SELECT xid::text FROM told_projects WHERE project_id = $1';
    expect(await bed.database.query(told, [projectNumber])).toEqual([{ xid: '0' }]);
    const undo = await bed.call('POST', `/platform/projects/${testProject.id}/undo`, {
      identity: asOwner(),
      body: { since },
    });
    expect([undo.status, undo.body.code]).toEqual([409, 'conflict']);
    await bed.create('notes', { n: 2 });
    await readUntil(1);
    await beginLog(bed.database);
    expect((await readAll()).all).toHaveLength(1);
  });

  it('forgets an erased user', async () => {
    const own = await bed.create('notes', { text: 'mine' }, asAda);
    await bed.call('PATCH', path(own.id), { identity: asAda, body: { data: { n: 1 } } });
    const other = await bed.create('notes', { text: 'open' });
    await bed.call('PATCH', path(other.id), { identity: asAda, body: { data: { n: 1 } } });
    await readUntil(4);
    await eraseUserLog(bed.database, projectNumber, ada);
    const [row] = await bed.database.query<{ text: string }>(
      `SELECT json_agg(changes)::text AS text FROM changes WHERE project_id = $1`,
      [projectNumber],
    );
    expect(row?.text).toContain('open');
    expect(row?.text).not.toContain(ada);
    expect(row?.text).not.toContain('mine');
  });
});
