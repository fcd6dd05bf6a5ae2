import { authRoutes } from '@backlot/contract';
import { asKey, asOperator, asOwner, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed } from '../testing/test-bed.ts';

const unknownId = '018f0000-0000-7000-8000-000000000001';

describe('users, to whom the project belongs', () => {
  let bed: TestBed;
  const emails = ['mo@example.org', 'al@example.org', 'zed@bücher.example', 'bo@example.org'];
  const ids: string[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    for (const email of emails) {
      ids.push((await bed.signUp({ email })).user.id);
      const token = await bed.mailedToken();
      if (!email.startsWith('al'))
        await bed.call('POST', '/auth/verify', { identity: asKey(), body: { token } });
    }
    await bed.signUp({ email: 'bo@example.org', project: otherProject });
    const body = { role: 'staff' };
    await bed.call('PATCH', `/users/${ids[0]}`, { identity: asOwner(), body });
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.getUser,
    () => bed.http,
    () => ({ path: `/projects/testproject/users/${unknownId}` }),
  );

  const get = (path: string, identity = asOwner()) =>
    bed.call('GET', `/platform/projects/testproject/users${path}`, { identity });
  const order = async (query: string) => {
    const { body } = await get(query);
    return body.items.map(({ id }: { id: string }) => ids.indexOf(id));
  };

  it.each([
    ['', [3, 2, 1, 0]],
    ['?sort=-createdAt', [3, 2, 1, 0]],
    ['?sort=createdAt', [0, 1, 2, 3]],
    ['?sort=email', [1, 3, 0, 2]],
    ['?sort=-email', [2, 0, 3, 1]],
    ['?email=Bo@Example.org', [3]],
    [`?email=${encodeURIComponent('zed@bücher.example')}`, [2]],
    ['?email=nobody@example.org', []],
    ['?status=verified', [3, 2, 0]],
    ['?status=unverified', [1]],
    ['?role=staff', [0]],
    ['?role=user&status=verified&sort=email', [3, 2]],
  ])('are listed by %j', async (query, expected) => {
    expect(await order(query)).toEqual(expected);
  });

  it('are listed by their ids, of this project alone', async () => {
    const { user } = await bed.signUp({ email: 'other@example.org', project: otherProject });
    const asked = [ids[1], ids[2], user.id, unknownId, 'no-id'].join();
    expect(await order(`?ids=${asked}`)).toEqual([2, 1]);
    expect(await order(`?ids=${asked}&status=verified`)).toEqual([2]);
    expect(await order('?ids=no-id')).toEqual([]);
    const tooMany = Array.from({ length: 101 }, () => unknownId).join();
    expect((await get(`?ids=${tooMany}`)).body.code).toBe('invalid_query');
  });

  it.each(['sort=email', 'sort=-email', 'sort=createdAt', 'status=verified'])(
    'come once in pages by %s, whose cursor is good for no other list',
    async (query) => {
      const seen: string[] = [];
      let cursor = '';
      do {
        const { status, body } = await get(`?limit=1&${query}${cursor}`);
        expect(status).toBe(200);
        seen.push(...body.items.map(({ id }: { id: string }) => id));
        if (body.nextCursor) {
          const other = await get(`?role=user&limit=1&${query}&cursor=${body.nextCursor}`);
          expect(other.body.code).toBe('invalid_cursor');
        }
        cursor = body.nextCursor && `&cursor=${body.nextCursor}`;
      } while (cursor);
      expect(seen.map((id) => ids.indexOf(id))).toEqual(await order(`?${query}`));
    },
  );

  it.each(['sort=name', 'sort=', 'status=new', 'email=x', 'role=A', 'verified=true'])(
    'are not listed by %s',
    async (query) => {
      expect(await get(`?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_query' },
      });
    },
  );

  it('are read one by one, with their profile and no secret', async () => {
    for (const identity of [asOwner(), asKey(), asOperator()]) {
      const { status, body } = await get(`/${ids[0]}`, identity);
      expect(status).toBe(200);
      expect(body).toEqual({
        id: ids[0],
        email: emails[0],
        isGuest: false,
        name: null,
        avatar: null,
        profile: {},
        publicProfile: {},
        role: 'staff',
        emailVerified: true,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      });
    }
    for (const id of [unknownId, 'nonsense', '%00'])
      expect(await get(`/${id}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    for (const own of [asOwner(), asKey(), asOperator()])
      expect((await get(`/${ids[0]}`, { ...own, project: otherProject })).status).toBe(404);
  });
});
