import { once } from 'node:events';
import { KIB } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import {
  anonymous,
  asUser,
  makeRandomContent,
  type TestAnswer,
  testProject,
  until,
} from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { DataStore } from '@tus/server';
import type { BlobStore } from '../blob-store/blob-store.ts';
import { beginForm, end, readAnswer } from '../testing/slow-form.ts';
import {
  callId,
  createTestBed,
  otherProject,
  type TestBed,
  userA,
  userB,
} from '../testing/test-bed.ts';

const MIB = 1024 * 1024;

describe('uploads', () => {
  let bed: TestBed;
  afterEach(() => bed.close());

  const begin = (headers?: Record<string, string | number>, identity?: Identity) =>
    beginForm(bed, headers, identity);
  const unclaimed = () => bed.count('loose_blobs');
  const files = () => bed.count('files');
  const expectNothing = async () => {
    await until(async () => (await unclaimed()) === 0 && (await bed.blobs()).length === 0);
    expect(await files()).toBe(0);
  };

  it('reach the store in blocks of what came while it wrote', async () => {
    const blocks: number[] = [];
    const gate = Promise.withResolvers<void>();
    const store: Partial<BlobStore> = {
      resumable: () => new DataStore(),
      async put(_key, source) {
        for await (const block of source) {
          blocks.push(block.length);
          await gate.promise;
        }
      },
    };
    bed = await createTestBed({}, store as BlobStore);
    const req = begin({ 'transfer-encoding': 'chunked' });
    req.write(Buffer.alloc(1000));
    await until(() => blocks.length === 1);
    for (let part = 0; part < 200; part++) req.write(Buffer.alloc(KIB));
    req.end(end);
    await once(req, 'finish');
    // Until it has arrived.
    for (let n = 0; n < 10; n++) await files();
    gate.resolve();
    expect((await readAnswer(req)).status).toBe(201);
    expect(blocks).toEqual([1000, 200 * KIB]);
  });

  it('leave nothing when the caller goes away in the middle', async () => {
    bed = await createTestBed();
    const req = begin({ 'content-length': 10 * MIB });
    req.write(makeRandomContent(3 * MIB));
    await until(async () => (await bed.blobs()).length === 1);
    expect(await unclaimed()).toBe(1);
    req.destroy();
    await expectNothing();
  });

  it('are not seen, nor paid for, before the last byte of the form', async () => {
    bed = await createTestBed();
    const req = begin();
    req.write(`hello${end}`);
    await until(async () => (await bed.blobs()).length === 1);
    expect(await files()).toBe(0);
    req.destroy();
    await expectNothing();
  });

  it('end when the caller says next to nothing for too long', async () => {
    bed = await createTestBed({ uploadIdleMs: 1000 });
    const req = begin();
    const trickle = setInterval(() => req.write('x'), 100);
    const { status, body } = await readAnswer(req);
    clearInterval(trickle);
    expect([status, body.code]).toEqual([400, 'invalid_body']);
    req.destroy();
    await expectNothing();
  });

  it('refuse a form that is shorter than its Content-Length once the caller is silent', async () => {
    bed = await createTestBed({ uploadIdleMs: 300 });
    const req = begin({ 'content-length': 10_000 });
    req.write(`hello${end}`);
    expect((await readAnswer(req)).status).toBe(400);
    req.destroy();
    await expectNothing();
  });

  it('are cut off while they stream, long before their end', async () => {
    bed = await createTestBed();
    const { project } = anonymous();
    const settings = { maxUploadBytes: MIB };
    const req = begin({}, anonymous({ project: { ...project, settings } }));
    req.write(makeRandomContent(2 * MIB));
    expect(await readAnswer(req)).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    req.destroy();
    await expectNothing();
  });

  it('go on while the caller sends slowly', async () => {
    bed = await createTestBed({ uploadIdleMs: 4000 });
    const req = begin();
    for (let n = 0; n < 12; n++) {
      req.write(Buffer.alloc(20_000, 'x'));
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    req.end(end);
    expect((await readAnswer(req)).status).toBe(201);
  });

  it('wait for the files of their own project, and leave connections to others', async () => {
    bed = await createTestBed();
    expect((await bed.upload('the first')).status).toBe(201);
    const locked = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const holding = bed.database.inProject(testProject.number, () =>
      bed.database.transaction(async () => {
        await bed.database.query('SELECT FROM totals FOR UPDATE');
        locked.resolve();
        await mayEnd.promise;
      }),
    );
    await locked.promise;
    // One more than there are connections.
    const waiting = Array.from({ length: 9 }, () => bed.upload('one of many'));
    const stranger = account(0, '10.0.0.9');
    await until(async () => (await unclaimed()) === waiting.length);
    expect((await bed.upload('of somebody else', { identity: stranger })).status).toBe(201);
    mayEnd.resolve();
    await holding;
    for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(201);
    expect(await files()).toBe(11);
  });

  const countLockWaits = async () => {
    const [waits] = await bed.database.query<{ count: number }>(
      `SELECT count(*)::int FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return waits?.count;
  };
  /** Answers of what comes while four of its project's files wait for the project's lock. */
  const uploadTogether = async (uploads: (() => Promise<TestAnswer>)[], whileLocked: string) => {
    expect((await bed.upload('first')).status).toBe(201);
    const locked = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const holding = bed.database.inProject(testProject.number, () =>
      bed.database.transaction(async () => {
        await bed.database.query('SELECT FROM totals FOR UPDATE');
        await bed.database.query(whileLocked);
        locked.resolve();
        await mayEnd.promise;
      }),
    );
    await locked.promise;
    const running: Promise<TestAnswer>[] = [];
    for (const [index, names] of [['second'], ['third'], ['fourth', 'fifth']].entries()) {
      running.push(...names.map((name) => bed.upload(name)));
      await until(async () => (await countLockWaits()) === index + 1);
    }
    const waiting = uploads.map((upload) => upload());
    const count = running.length + uploads.length;
    const metric = `backlot_queue_running{queue="newFiles",lane="slow"} ${count}`;
    await until(async () => (await bed.registry.metrics()).includes(metric));
    mayEnd.resolve();
    await holding;
    for (const { status } of await Promise.all(running)) expect(status).toBe(201);
    return Promise.all(waiting);
  };
  const owned = (content: string, userId = userA, name = 'a.txt') => {
    const reservation = { callId, millicredits: 5000, millicreditsPerUnit: 1000 };
    return () => bed.upload(content, { identity: asUser(userId, { reservation }), name });
  };

  it('that wait for the files of their project become files in one transaction', async () => {
    bed = await createTestBed();
    const names = ['a.txt', `{it's, "NULL"}.txt`, 'NULL'];
    const answers = await uploadTogether(
      names.map((name) => owned(`of ${name}`, userA, name)),
      'SELECT',
    );
    expect(answers.map(({ status, body }) => [status, body.name])).toEqual(
      names.map((name) => [201, name]),
    );
    for (const [index, { body }] of answers.entries())
      expect((await bed.get(body.url)).bytes.toString()).toBe(`of ${names[index]}`);
    expect(await bed.takeUsage()).toHaveLength(3);
    const [written] = await bed.database.query(
      'SELECT count(*) AS files, count(DISTINCT xmin::text) AS transactions FROM files',
    );
    expect(written).toEqual({ files: 8, transactions: 5 });
    expect(
      await bed.database.query(
        'SELECT files, bytes = (SELECT sum(size_bytes) FROM files) AS fits FROM totals',
      ),
    ).toEqual([{ files: 8, fits: true }]);
  });

  it('that wait together fail alone', async () => {
    bed = await createTestBed();
    const erase = `INSERT INTO erased_users VALUES (${testProject.number}, '${userB}', now())`;
    const answers = await uploadTogether([owned('1'), owned('2', userB), owned('3')], erase);
    expect(answers.map(({ status }) => status)).toEqual([201, 401, 201]);
    await until(async () => (await unclaimed()) === 0);
    expect(await bed.takeUsage()).toHaveLength(2);
    expect(await bed.database.query('SELECT files FROM totals')).toEqual([{ files: 7 }]);
    expect(await bed.blobs()).toHaveLength(7);
  });

  /** An account of a project and owner of its own. */
  const account = (n: number, ip: string) =>
    asUser(userA, {
      ip,
      project: { ...otherProject, id: `p${n}`, number: 2000 + n, ownerId: `${n}` },
    });

  it('leave room for a stranger, whatever 20 accounts on one address keep open', async () => {
    bed = await createTestBed({ maxUploads: 12 });
    const refused: unknown[] = [];
    const idle = Array.from({ length: 20 }, (_, n) => {
      const req = begin({}, account(n, '192.0.2.9'));
      req.write('x'.repeat(64 * 1024));
      readAnswer(req).then(
        ({ status, body }) => refused.push(`${status} ${body.code}`),
        () => undefined,
      );
      return req;
    });
    await until(async () => (await unclaimed()) === 2);
    expect((await bed.upload('of a stranger')).status).toBe(201);
    // They make room for each other only.
    await until(() => refused.length === 18);
    expect(new Set(refused)).toEqual(new Set(['503 overloaded']));
    for (const req of idle) req.destroy();
  });

  it('give way, where all places are taken, to who holds fewer', async () => {
    bed = await createTestBed({ maxUploads: 12 });
    const idle = Array.from({ length: 12 }, (_, n) => {
      const req = begin({}, account(n, `192.0.2.${10 + Math.floor(n / 2)}`));
      req.write('x'.repeat(64 * 1024));
      return req;
    });
    await until(async () => (await unclaimed()) === 12);
    const gaveWay = Promise.race(idle.map(readAnswer));
    expect((await bed.upload('of a stranger')).status).toBe(201);
    expect(await gaveWay).toMatchObject({ status: 503, body: { code: 'overloaded' } });
    for (const req of idle) req.destroy();
  });

  it('fill the quota to the byte, whatever comes in parallel', async () => {
    bed = await createTestBed({ quotaBytes: 10_000 });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => bed.upload(Buffer.alloc(2000, 1))),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    for (const { status, body } of answers.filter((answer) => answer.status !== 201))
      expect([status, body.code]).toEqual([403, 'storage_quota']);
    expect(await files()).toBe(5);
    expect(await bed.upload('x')).toMatchObject({ status: 403 });
    expect((await bed.upload('x', { identity: anonymous({ project: otherProject }) })).status).toBe(
      201,
    );
    expect(await bed.blobs()).toHaveLength(6);
  });

  it('lose what a killed process has left to the sweep, and nothing that is alive', async () => {
    bed = await createTestBed();
    const key = '1001/00000000-0000-4000-8000-000000000000';
    await bed.store.put(
      key,
      (async function* () {
        yield Buffer.from('left behind');
      })(),
    );
    await bed.database.query(
      "INSERT INTO loose_blobs (blob_key, project_number, leased_until) VALUES ($1, 1001, now() + interval '1 minute')",
      [key],
    );
    const alive = begin();
    alive.write('x'.repeat(MIB));
    await until(async () => (await unclaimed()) === 2);
    await bed.service.sweepBlobs();
    expect(await unclaimed()).toBe(2);
    bed.clock.pass(90_000);
    await bed.service.sweepBlobs();
    expect(await unclaimed()).toBe(1);
    await expect(bed.store.open(key)).rejects.toThrow('no such blob');
    alive.end(end);
    expect((await readAnswer(alive)).status).toBe(201);
  });

  it('make no file where the lease was lost', async () => {
    bed = await createTestBed();
    const req = begin();
    req.write('x'.repeat(MIB));
    await until(async () => (await unclaimed()) === 1);
    await bed.database.query('DELETE FROM loose_blobs');
    req.end(end);
    expect(await readAnswer(req)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(await files()).toBe(0);
  });
});
