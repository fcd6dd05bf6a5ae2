import { authRoutes } from '@backlot/contract';
import { asOperator, asOwner, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed } from '../test-bed.ts';

describe('listUsers', () => {
  let bed: TestBed;
  const ids: string[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    for (let n = 0; n < 5; n++) ids.unshift((await bed.signUp()).user.id);
    await bed.signUp({ project: otherProject });
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.listUsers,
    () => bed.http,
    () => ({ path: '/projects/testproject/users' }),
  );

  const list = (query = '', identity = asOwner()) =>
    bed.call('GET', `/platform/projects/testproject/users${query}`, { identity });
  const idsOf = (body: { items: { id: string }[] }) => body.items.map(({ id }) => id);

  it('answers the users of the project, newest first, without anything secret', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(idsOf(body)).toEqual(ids);
    expect(body).toMatchObject({ hasMore: false, nextCursor: null });
    expect(JSON.stringify(body)).not.toMatch(/argon2|hash/);
    expect((await list('', asOperator())).body).toEqual(body);
  });

  it('pages through all of them once', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await list(`?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...idsOf(body));
      expect(body.hasMore).toBe(body.nextCursor !== null);
      cursor = body.nextCursor;
    } while (cursor);
    expect(seen).toEqual(ids);
  });

  it('answers no items for a limit of 0', async () => {
    expect((await list('?limit=0')).body).toEqual({ items: [], hasMore: false, nextCursor: null });
  });

  it.each(['made-up', '', 'dTE6bm9uc2Vuc2U', '%00', 'x'.repeat(2048)])(
    'refuses the cursor "%.20s"',
    async (cursor) => {
      expect(await list(`?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_cursor' },
      });
    },
  );

  it.each(['limit=-1', 'limit=x', 'limit=1.5', 'limit=1&limit=2'])(
    'refuses %s, naming the field',
    async (query) => {
      const answer = await list(`?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
      expect(answer.body.error).toContain('"limit"');
    },
  );
});
