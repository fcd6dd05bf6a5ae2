import { storageRoutes } from '@backlot/contract';
import { asOperator, asOwner, asUser, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed, userA, userB } from '../test-bed.ts';

describe('the lists of files', () => {
  let bed: TestBed;
  const mine: string[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    for (let n = 0; n < 5; n++) {
      const fields = { visibility: n % 2 ? 'public' : 'private' };
      const { body } = await bed.upload(`file ${n}`, { identity: asUser(userA), fields });
      mine.unshift(body.id);
    }
    await bed.upload('not mine', { identity: asUser(userB) });
    await bed.upload('nobody’s');
    await bed.upload('elsewhere', { identity: asUser(userA, { project: otherProject }) });
  });
  afterAll(() => bed.close());
  refusesStrangers(
    storageRoutes.listFiles,
    () => bed.http,
    () => ({ path: '/storage/files' }),
  );
  refusesStrangers(
    storageRoutes.listProjectFiles,
    () => bed.http,
    () => ({ path: '/projects/testproject/files' }),
  );

  const list = (query = '', identity = asUser(userA)) =>
    bed.http.call('GET', `/storage/files${query}`, { identity });
  const listAll = (query = '', identity = asOwner()) =>
    bed.http.call('GET', `/platform/projects/testproject/files${query}`, { identity });

  it('show a user their own files of this project, newest first, page by page', async () => {
    const seen: { id: string }[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await list(`?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...body.items);
      cursor = body.nextCursor;
    } while (cursor);
    expect(seen.map(({ id }) => id)).toEqual(mine);
    expect(seen[0]).toEqual({
      id: mine[0],
      name: 'a.txt',
      size: 6,
      type: 'text/plain',
      visibility: 'private',
      ownerId: userA,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      url: `https://api.example.org/api/runtime/testproject/storage/files/${mine[0]}/a.txt`,
    });
  });

  it('show who runs the project all of them, with their totals', async () => {
    const { body } = await listAll();
    expect(body).toMatchObject({ totalFiles: 7, totalBytes: 5 * 6 + 8 + 10, hasMore: false });
    expect(body.items).toHaveLength(7);
    expect((await listAll('', asOperator())).body).toEqual(body);
    expect((await listAll('', asOwner({ project: otherProject }))).body).toMatchObject({
      totalFiles: 1,
    });
  });

  it.each(['?limit=-1', '?limit=x', '?cursor=made-up', `?cursor=${'x'.repeat(2049)}`])(
    'refuse %.30s',
    async (query) => {
      for (const { status, body } of [await list(query), await listAll(query)]) {
        expect(status).toBe(400);
        expect(body.error).toMatch(/"(limit|cursor)"/);
      }
    },
  );

  it('take no cursor of each other', async () => {
    const { nextCursor } = (await list('?limit=2')).body;
    expect((await listAll(`?cursor=${nextCursor}`)).status).toBe(400);
  });
});
