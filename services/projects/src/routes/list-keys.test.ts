import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

describe('listKeys', () => {
  let bed: TestBed;
  let id: string;
  const keyIds: string[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    id = await bed.project();
    const other = await bed.project();
    for (const [projectId, name] of [
      [id, 'one'],
      [id, 'two'],
      [other, 'of another'],
      [id, 'three'],
    ] as const) {
      bed.pass(10);
      const identity = await bed.owner(ownerA, projectId);
      const { body } = await bed.call('POST', `/platform/projects/${projectId}/keys`, {
        identity,
        body: { name },
      });
      if (projectId === id) keyIds.push(String(body.id));
    }
  });
  afterAll(() => bed.close());

  const list = async (query = '') =>
    bed.call('GET', `/platform/projects/${id}/keys${query}`, {
      identity: await bed.owner(ownerA, id),
    });

  it("lists this project's keys newest first, page by page, without the keys", async () => {
    const first = await list('?limit=2');
    expect(first.body).toMatchObject({
      hasMore: true,
      items: [{ name: 'three' }, { name: 'two' }],
    });
    expect(Object.keys(first.body.items[0])).toEqual(
      'id name scopes createdAt expiresAt lastUsedAt'.split(' '),
    );
    const rest = await list(`?limit=2&cursor=${first.body.nextCursor}`);
    expect(rest.body).toMatchObject({
      hasMore: false,
      nextCursor: null,
      items: [{ id: keyIds[0], name: 'one' }],
    });
  });

  it('tells when a key was used last, to within five minutes, without a write for each look-up', async () => {
    const projectId = await bed.project();
    const identity = await bed.owner(ownerA, projectId);
    const path = `/platform/projects/${projectId}/keys`;
    const { body } = await bed.call('POST', path, { identity, body: { name: 'used' } });
    const hash = createHash('sha256').update(body.key).digest('base64url');
    const lastUsedAt = async () =>
      (await bed.call('GET', path, { identity })).body.items[0].lastUsedAt;
    const versionOfRow = () =>
      bed.database.query('SELECT xmin::text FROM keys WHERE id = $1', [body.id]);
    const { findKey } = bed.service.directories.projects;

    expect(await lastUsedAt()).toBeNull();
    await findKey(hash);
    const firstUse = new Date(bed.now()).toISOString();
    expect(await lastUsedAt()).toBe(firstUse);
    const version = await versionOfRow();
    for (let n = 0; n < 4; n++) {
      bed.pass(60_000);
      await findKey(hash);
    }
    expect(await versionOfRow()).toEqual(version);
    expect(await lastUsedAt()).toBe(firstUse);
    bed.pass(60_000);
    await findKey(hash);
    expect(await lastUsedAt()).toBe(new Date(bed.now()).toISOString());
  });

  it('refuses a made-up cursor', async () => {
    const madeUp = [
      ['keys', 5, 'no-uuid'],
      ['keys', -1, keyIds[0]],
      ['projects', 5, 'abc'],
      {},
      null,
    ];
    for (const cursor of madeUp) {
      const text = Buffer.from(JSON.stringify(cursor)).toString('base64url');
      expect(await list(`?cursor=${text}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_cursor' },
      });
    }
  });
});
