import { anonymous, asOwner, asUser } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('what a read shows', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    const access = (collection: string, preset: string) =>
      bed.database.query('UPDATE collections SET access = $2 WHERE name = $1', [
        collection,
        preset,
      ]);
    for (const collection of ['people', 'secrets', 'tags', 'boxes'])
      await bed.create(collection, {}, asUser(ada));
    await access('secrets', 'private');
  });
  afterAll(() => bed.close());

  const get = (path: string, identity = asUser(ada)) => bed.call('GET', path, { identity });

  describe('by fields', () => {
    it('is these fields and the id, in lists and of one record', async () => {
      const data = { title: 'x', body: 'long', deep: { a: 1, b: 2 } };
      const { id } = await bed.create('notes', data, asUser(ada));
      expect((await get('/db/notes?fields=title,deep,missing')).body.items).toEqual([
        { id, title: 'x', deep: { a: 1, b: 2 } },
      ]);
      const one = await get(`/db/notes/${id}?fields=title,createdAt`);
      expect(Object.keys(one.body).sort()).toEqual(['createdAt', 'id', 'title']);
      expect(one.headers.get('etag')).toMatch(/^"\w+"$/);
    });

    it('is cut from large pages and records too', async () => {
      const large = 'x'.repeat(200_000);
      for (let n = 0; n < 4; n++) await bed.create('large', { n, large }, asUser(ada));
      const { body } = await get('/db/large?fields=n&sort=n&limit=3');
      expect(body.items.map(({ id: _, ...rest }: { id: string }) => rest)).toEqual([
        { n: 0 },
        { n: 1 },
        { n: 2 },
      ]);
      expect([body.hasMore, typeof body.nextCursor]).toEqual([true, 'string']);
      const { id } = await bed.create('large', { large: large + large, n: 9 }, asUser(ada));
      expect((await get(`/db/large/${id}?fields=n`)).body).toEqual({ id, n: 9 });
    });

    it('is bounded, and names nothing else', async () => {
      const tooMany = Array.from({ length: 51 }, (_, n) => `f${n}`).join(',');
      for (const fields of ['', 'a,', tooMany, '__proto__']) {
        const { status, body } = await get(`/db/notes?fields=${fields}`);
        expect([status, body.code]).toEqual([400, 'invalid_query']);
        expect(body.error).toContain('"fields"');
      }
      expect((await get('/db/notes?fields=constructor&limit=1')).body.items).toEqual([
        { id: expect.any(String) },
      ]);
    });
  });

  it('has the total beside a list where it is asked for', async () => {
    for (let n = 0; n < 5; n++) await bed.create('counted', { n }, asUser(n < 3 ? ada : bob));
    const where = encodeURIComponent('{"n":{"$gt":0}}');
    expect((await get('/db/counted?limit=2&total=1')).body).toMatchObject({ total: 5 });
    expect((await get(`/db/counted?limit=0&total=1&where=${where}`)).body.total).toBe(4);
    expect((await get('/db/counted?limit=1&total=1&mine=1')).body.total).toBe(3);
    expect((await get('/db/missing?total=1')).body).toEqual({
      items: [],
      hasMore: false,
      nextCursor: null,
      total: 0,
    });
    expect((await get('/db/counted')).body).not.toHaveProperty('total');
  });

  it('has a total of what the caller may see', async () => {
    await bed.create('secrets', { whose: 'bob' }, asUser(bob));
    expect((await get('/db/secrets?total=1')).body.total).toBe(1);
    expect((await get('/db/secrets?total=1', asOwner())).body.total).toBe(2);
  });

  describe('by include', () => {
    it('has records in place of ids, one level deep', async () => {
      const eve = await bed.create('people', { name: 'Eve' }, asUser(ada));
      const red = await bed.create('tags', { name: 'red', authorId: eve.id }, asUser(ada));
      const blue = await bed.create('tags', { name: 'blue' }, asUser(ada));
      const unknown = '018f0000-0000-7000-8000-000000000000';
      const data = { author: eve.id, tagIds: [red.id, unknown, blue.id, 5], n: 1 };
      const { id } = await bed.create('posts', data, asUser(ada));
      const shown = {
        id,
        n: 1,
        author: eve,
        tagIds: [red, unknown, blue, 5],
      };
      const query = 'include=author:people,tagIds';
      expect((await get(`/db/posts?${query}`)).body.items).toMatchObject([shown]);
      expect((await get(`/db/posts/${id}?${query}&fields=n`)).body).toEqual(shown);
    });

    it('shows nobody more than they may read by themselves', async () => {
      const secret = await bed.create('secrets', { whose: 'ada' }, asUser(ada));
      const { id } = await bed.create('boxes', { content: secret.id }, asUser(ada));
      const path = `/db/boxes/${id}?include=content:secrets`;
      expect((await get(path)).body.content).toEqual(secret);
      expect((await get(path, asOwner())).body.content).toEqual(secret);
      for (const stranger of [asUser(bob), anonymous()]) {
        expect((await get(path, stranger)).body.content).toBe(secret.id);
        const list = await get('/db/boxes?include=content:secrets', stranger);
        expect(JSON.stringify(list.body)).not.toContain('whose');
      }
    });

    it('finds no record of another collection or project', async () => {
      const secret = await bed.create('secrets', { whose: 'ada' }, asUser(ada));
      const { id } = await bed.create('boxes', { content: secret.id }, asUser(ada));
      expect((await get(`/db/boxes/${id}?include=content:people`)).body.content).toBe(secret.id);
      const elsewhere = { ...asUser(ada).project, id: 'elsewhere', number: 4242 };
      const other = await bed.call('POST', '/db/people', {
        identity: { ...asUser(ada), project: elsewhere },
        body: { data: { name: 'Other' } },
      });
      const box = await bed.create('boxes', { content: other.body.id }, asUser(ada));
      expect((await get(`/db/boxes/${box.id}?include=content:people`)).body.content).toBe(
        other.body.id,
      );
    });

    describe('of users', () => {
      const project = asUser(ada).project;
      const profile = { id: ada, name: 'Ada', avatar: null, publicProfile: { bio: 'Writes' } };
      const nobody = { name: null, avatar: null, publicProfile: {} };
      beforeAll(async () => {
        bed.profiles.set(ada, profile);
        await bed.create('chat', { text: 'hi', to: [bob, ada.toUpperCase(), 'x'] }, asUser(ada));
        await bed.create('chat', { text: 'anon' }, anonymous());
      });

      it('has them in place of their ids, also of who is none, for all who read the records', async () => {
        for (const identity of [anonymous(), asUser(bob), asOwner()])
          for (const include of ['ownerId:users', 'ownerId']) {
            const { body } = await get(`/db/chat?include=${include}&fields=text&sort=id`, identity);
            expect(body.items).toMatchObject([
              { text: 'hi', ownerId: profile },
              { text: 'anon', ownerId: null },
            ]);
          }
        const { body } = await get('/db/chat?include=to:users&fields=to&sort=id&limit=1');
        expect(body.items[0].to).toEqual([{ id: bob, ...nobody }, profile, 'x']);
        const { id } = body.items[0];
        expect((await get(`/db/chat/${id}?include=ownerId:users`)).body.ownerId).toEqual(profile);
      });

      it('asks once for all, and not again within seconds', async () => {
        bed.clock.pass(5000);
        bed.profilesAsked.length = 0;
        const path = '/db/chat?include=ownerId:users,to:users';
        for (let n = 0; n < 3; n++) expect((await get(path)).status).toBe(200);
        expect(bed.profilesAsked).toHaveLength(1);
        expect([...(bed.profilesAsked[0]?.ids ?? [])].sort()).toEqual([ada, bob]);
        bed.profiles.set(ada, { ...profile, name: 'Ada L.' });
        bed.clock.pass(5000);
        expect(JSON.stringify((await get(path)).body)).toContain('Ada L.');
        bed.profiles.set(ada, profile);
      });

      it('asks for each caller where profiles are not public', async () => {
        bed.profilesAsked.length = 0;
        const hidden = { ...project, settings: { publicProfiles: false } };
        for (let n = 0; n < 2; n++)
          await get('/db/chat?include=ownerId:users', { ...asUser(bob), project: hidden });
        expect(bed.profilesAsked).toHaveLength(2);
        expect(bed.profilesAsked[0]).toMatchObject({
          caller: 'user',
          userId: bob,
          hasPublicProfiles: false,
        });
      });

      it('keeps a collection of that name, but for owners', async () => {
        const elsewhere = { ...project, id: 'second', number: 4243 };
        const identity = { ...asUser(ada), project: elsewhere };
        const user = await bed.create('users', { name: 'A row' }, identity);
        await bed.create('cards', { by: user.id }, identity);
        const { body } = await get('/db/cards?include=by:users,ownerId:users', identity);
        expect(body.items).toMatchObject([{ by: user, ownerId: { id: ada, ...nobody } }]);
      });
    });

    it('is bounded by fields, collections, places and bytes', async () => {
      for (const [include, words] of [
        ['a,b,c,d', 'at most 3 fields'],
        ['a:x,b:y,c:z', 'at most 2 collections'],
        ['', 'needs fields that hold ids'],
        ['a:$x', 'needs fields that hold ids'],
      ] as const) {
        const { status, body } = await get(`/db/boxes?include=${include}`);
        expect([include, status, body.code]).toEqual([include, 400, 'invalid_query']);
        expect(body.error).toContain(words);
      }
      const missing = await get('/db/boxes?include=content');
      expect([missing.status, missing.body.error]).toEqual([
        400,
        '"include" finds no collection "contents"; name it: include=content:<collection>',
      ]);
      const heavy = await bed.create('people', { text: 'x'.repeat(20_000) }, asUser(ada));
      for (const [count, words] of [
        [501, 'more than 500 records'],
        [200, 'more than 2 MB'],
      ] as const) {
        const data = { content: Array.from({ length: count }, () => heavy.id) };
        const { id } = await bed.create('boxes', data, asUser(ada));
        const { status, body } = await get(`/db/boxes/${id}?include=content:people`);
        expect([status, body.code]).toEqual([422, 'query_too_expensive']);
        expect(body.error).toContain(words);
      }
      const { status } = await get('/db/large?include=n:people');
      expect(status).toBe(422);
    });
  });
});
