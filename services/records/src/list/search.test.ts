import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { uuidv7 } from 'uuidv7';
import { resolveAccess } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import type { CollectionSearch } from '../collections/stored/search-words.ts';
import { toSearchTerms } from '../query/search-query.ts';
import { searchCountStatement } from '../query/search-statement.ts';
import { splitFilter } from '../query/selection.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { parseWhere } from '../where/parse.ts';

const path = `/platform/projects/${testProject.id}/collections`;

describe('lists by words', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ scanRows: 2000 });
    await bed.ownerDatabase.query(
      `CREATE FUNCTION records.to_base36(n int8) RETURNS text LANGUAGE sql AS $$
         WITH RECURSIVE digits(n, text) AS (
           SELECT n, '' UNION ALL
           SELECT n / 36, substr('0123456789abcdefghijklmnopqrstuvwxyz', (n % 36)::int + 1, 1) || text FROM digits WHERE n > 0)
         SELECT text FROM digits WHERE digits.n = 0 ORDER BY length(text) DESC LIMIT 1 $$`,
    );
  });
  afterAll(() => bed.close());

  const put = (collection: string, body: object) =>
    bed.call('PUT', `${path}/${collection}`, { identity: asOwner(), body });
  const shown = async (collection: string) => {
    const { body } = await bed.call('GET', path, { identity: asOwner() });
    return body.items.find(({ name }: { name: string }) => name === collection).search;
  };
  const untilReady = (collection: string) =>
    until(async () => (await shown(collection)).state === 'ready', { timeoutMs: 90_000 });
  const switchOn = async (collection: string, search: true | string[], access?: unknown) => {
    const set = await put(collection, { search, ...(access !== undefined && { access }) });
    expect(set.status).toBe(200);
    await untilReady(collection);
  };
  const get = (
    at: string,
    query: Record<string, string | number>,
    identity: Identity = asKey(),
  ) => {
    const pairs = Object.entries(query).map(
      ([name, value]) => [name, String(value)] as [string, string],
    );
    return bed.call('GET', `/db/${at}?${new URLSearchParams(pairs)}`, { identity });
  };
  const titles = async (at: string, search: string, more = {}, identity?: Identity) => {
    const { status, body } = await get(at, { search, ...more }, identity);
    expect([search, status, body.error]).toEqual([search, 200, undefined]);
    return body.items.map(({ title }: { title: string }) => title);
  };
  const count = async (at: string, search: string, more = {}) =>
    (await get(`${at}/_count`, { search, ...more })).body.count;

  /** Texts of no record, and records whose words are others than those that are kept. */
  const wrongWords = (collection: string) =>
    bed.database.query(
      `WITH wanted AS (
         SELECT r.id, search_words(data, fields, concat_ws('.', lower(to_base36(project_id)), lower(to_base36(coll_id)), lower(to_base36(number))) || '.') AS words
         FROM records r JOIN searches USING (project_id, coll_id) JOIN collections USING (project_id, coll_id)
         WHERE name = $1 AND searches.state = 'ready'),
       kept AS (
         SELECT record_id AS id, words FROM search_texts JOIN searches USING (project_id, coll_id, number)
           JOIN collections USING (project_id, coll_id) WHERE name = $1 AND searches.state = 'ready')
       SELECT 'wrong' AS problem, id FROM (SELECT * FROM wanted EXCEPT ALL SELECT * FROM kept) wrong
       UNION ALL SELECT 'left over', id FROM (SELECT * FROM kept EXCEPT ALL SELECT * FROM wanted) left_over`,
      [collection],
    );
  it('find records that have all words, from their beginning, in any string, the best first', async () => {
    await switchOn('recipes', true);
    for (const data of [
      { title: 'Green tea', steps: ['Boil water', { note: 'pour over the leaves' }] },
      { title: 'Black tea', text: 'As green tea, only longer. Tea, tea and tea.' },
      { title: 'ÉCLAIR au chocolat', kcal: 500 },
      { title: "Grandma's l'été \\ 'quoted' pie" },
      { title: 'Nothing', tea: { pot: 1 } },
    ])
      await bed.create('recipes', data);
    expect(await titles('recipes', 'green tea', { sort: '-title' })).toEqual([
      'Green tea',
      'Black tea',
    ]);
    expect(await titles('recipes', 'TEA')).toEqual(['Black tea', 'Green tea']);
    expect(await titles('recipes', 'leav pour')).toEqual(['Green tea']);
    expect(await titles('recipes', 'éclair')).toEqual(['ÉCLAIR au chocolat']);
    expect(await titles('recipes', "l'été 'quoted' \\")).toHaveLength(1);
    expect(await titles('recipes', "tea:* | !x & 'y")).toEqual([]);
    expect(await titles('recipes', '500')).toEqual([]);
    expect(await titles('recipes', 'pot')).toEqual([]);
    expect(await count('recipes', 'tea')).toBe(2);
  });

  it('go together with where, mine, sort, pages and a total', async () => {
    await switchOn('posts', ['title', 'tags'], 'public-read');
    for (let n = 0; n < 12; n++)
      await bed.create(
        'posts',
        { title: `Post ${n}`, n, tags: ['red'], body: 'blue' },
        asUser(n % 3 ? ada : bob),
      );
    const where = JSON.stringify({ n: { $gte: 6 } });
    expect(await titles('posts', 'red', { where, sort: 'n', limit: 2 })).toEqual([
      'Post 6',
      'Post 7',
    ]);
    expect(await titles('posts', 'red', { mine: 1, sort: 'n' }, asUser(bob))).toEqual(
      [0, 3, 6, 9].map((n) => `Post ${n}`),
    );
    expect(await titles('posts', 'blue')).toEqual([]);
    expect(await count('posts', 'red', { where })).toBe(6);
    const all = await titles('posts', 'red');
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await get('posts', {
        search: 'red',
        limit: 5,
        total: 1,
        ...(cursor && { cursor }),
      });
      expect([page.status, page.body.total]).toEqual([200, 12]);
      found.push(...page.body.items.map(({ title }: { title: string }) => title));
      cursor = page.body.nextCursor ?? undefined;
      if (cursor) expect((await get('posts', { search: 'post', cursor })).status).toBe(400);
    } while (cursor);
    expect(found).toEqual(all);
    expect(await titles('posts', 'red', { offset: 10 })).toEqual(all.slice(10));
    expect(await titles('posts', 'red', { limit: 0 })).toEqual([]);
  });

  it('show nothing that the caller may not read, and look into no field that is hidden from them', async () => {
    const fields = { secret: { read: ['owner'] } };
    const access = { read: ['owner'], create: ['users'], change: ['owner'], fields };
    await switchOn('diary', true, access);
    await bed.create('diary', { title: 'Mine', secret: 'treasure' }, asUser(ada));
    await bed.create('diary', { title: 'Theirs', secret: 'treasure' }, asUser(bob));
    expect((await titles('diary', 'treasure')).sort()).toEqual(['Mine', 'Theirs']);
    for (const at of ['diary', 'diary/_count']) {
      const refused = await get(at, { search: 'treasure' }, asUser(ada));
      expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(refused.body.hint).toContain('"search"');
      expect((await get(at, { search: 'treasure' }, anonymous())).status).toBe(401);
    }
    await switchOn('diary', ['title']);
    expect(await titles('diary', 'treasure')).toEqual([]);
    expect(await titles('diary', 'mine', {}, asUser(ada))).toEqual(['Mine']);
    expect(await titles('diary', 'theirs', {}, asUser(ada))).toEqual([]);
  });

  it('are refused where the owner has not switched them on, with the way to do so', async () => {
    await bed.create('plain', { title: 'x' });
    const off = await get('plain', { search: 'x' });
    expect(off).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
    expect(off.body.hint).toContain('{"search": true}');
    await switchOn('plain', true);
    expect(await titles('plain', 'x')).toEqual(['x']);
    expect((await put('plain', { search: false })).body.search).toBeNull();
    expect((await get('plain', { search: 'x' })).status).toBe(400);
    await until(async () => {
      const left = await bed.database.query(
        `SELECT 1 FROM search_texts JOIN collections USING (project_id, coll_id) WHERE name = 'plain'
         UNION ALL SELECT 1 FROM searches JOIN collections USING (project_id, coll_id) WHERE name = 'plain'`,
      );
      return left.length === 0;
    });
    for (const search of [['id'], ['$x'], ['a\0'], [], 'title', Array(11).fill('a')])
      expect([search, (await put('plain', { search })).status]).toEqual([search, 400]);
  });

  it('wait for the index with a hint and a time, and without an error in the log', async () => {
    await bed.create('slow', { title: 'x' });
    await bed.ownerDatabase.transaction(async () => {
      // Held by whoever builds.
      await bed.ownerDatabase.query(
        `SELECT pg_advisory_xact_lock(hashtextextended('records searches', 0))`,
      );
      expect((await put('slow', { search: true })).status).toBe(200);
      const before = bed.errors.length;
      for (const at of ['slow', 'slow/_count']) {
        const answer = await get(at, { search: 'x' });
        expect(answer).toMatchObject({ status: 503, body: { code: 'index_building' } });
        expect(answer.body.hint).toContain('search.state');
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      expect(bed.errors.slice(before)).toEqual([]);
    });
    await untilReady('slow');
    expect(await titles('slow', 'x')).toEqual(['x']);
  });

  it('have bounds: of the query, of what is indexed and of what is ranked', async () => {
    await switchOn('long', true);
    const words = (n: number) => Array.from({ length: n }, (_, i) => `w${i}`).join(' ');
    for (const search of ['', '  ', '!?', 'x'.repeat(201), words(11), 'a\0b'])
      expect([search, (await get('long', { search })).status]).toEqual([search, 400]);
    expect((await get('long', { search: words(10) })).status).toBe(200);
    const title = `first ${'y'.repeat(1000)} ${'fill '.repeat(14_000)} last`;
    await bed.create('long', { title });
    expect(await titles('long', 'first')).toHaveLength(1);
    expect(await titles('long', 'last')).toHaveLength(0);
    const varied = Array.from({ length: 12_000 }, (_, i) => `ä${i.toString(36)}`).join(' ');
    await bed.create('long', { title: varied });
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data)
       SELECT project_id, coll_id, uuidv7(), now(), now(), jsonb_build_object('title', 'common ' || n)
       FROM collections, generate_series(1, 2100) n WHERE name = 'many'`,
    );
    await bed.create('many', { title: 'common' });
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data)
       SELECT project_id, coll_id, uuidv7(), now(), now(), jsonb_build_object('title', 'common ' || n)
       FROM collections, generate_series(1, 2100) n WHERE name = 'many'`,
    );
    await switchOn('many', true);
    for (const at of ['many', 'many/_count'])
      expect(await get(at, { search: 'common' })).toMatchObject({
        status: 422,
        body: { code: 'query_too_expensive' },
      });
    expect(await titles('many', 'common 17')).toContain('common 17');
  });

  it('are those that a walk through all records finds', async () => {
    await switchOn('model', true);
    const word = fc.constantFrom('ab', 'abc', 'b', 'ba', 'cab', 'Ä', 'x-y');
    const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(' '));
    const written: { id: string; text: string; n: number }[] = [];
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.array(fc.constantFrom('a', 'ab', 'b', 'ca', 'ä'), { minLength: 1, maxLength: 2 }),
        async (content, asked) => {
          const { id } = await bed.create('model', { title: content, n: written.length });
          written.push({ id, text: content, n: written.length });
          const fits = (text: string) => {
            const words = text.toLowerCase().replaceAll('ä', 'a').split(/[ -]/);
            const plain = asked.map((prefix) => prefix.replaceAll('ä', 'a'));
            return plain.every((prefix) => words.some((word) => word.startsWith(prefix)));
          };
          const { body } = await get('model', { search: asked.join(' '), limit: 1000 });
          const ids = body.items.map(({ id }: { id: string }) => id).sort();
          expect(ids).toEqual(
            written
              .filter(({ text }) => fits(text))
              .map(({ id }) => id)
              .sort(),
          );
        },
      ),
      { numRuns: 60, endOnFailure: true },
    );
  });

  it('follow every change, whatever is written while they are switched on and built', async () => {
    const ids = await Promise.all(
      Array.from(
        { length: 20 },
        async (_, i) => (await bed.create('busy', { title: `old${i}` })).id,
      ),
    );
    const call = (method: string, at: string, body?: object) =>
      bed.call(method, `/db/busy${at}`, { identity: asKey(), ...(body && { body }) });
    const write = async (writer: number) => {
      for (let i = 0; i < 25; i++) {
        const at = `/${ids[(i * 3 + writer) % 15]}`;
        const made = await bed.create('busy', {
          title: `made${i}`,
          deep: { text: [`in${writer}`] },
        });
        const answers = [
          await call('PATCH', at, { data: { title: `new${i}` } }),
          await call('PATCH', at, { data: { n: i } }),
          await call('PUT', at, { data: { deep: { text: `put${i}` } } }),
          await call('PUT', `/${uuidv7()}?upsert=1`, { data: { title: 'upserted' } }),
          await call('POST', '/_batch', {
            create: [{ data: { title: 'batch' } }],
            update: [{ id: ids[i % 15], data: { title: `both${writer}` } }],
            delete: [made.id],
          }),
        ];
        expect(answers.filter(({ status }) => status >= 300)).toEqual([]);
        if (i < 5) expect([200, 404]).toContain((await call('DELETE', `/${ids[15 + i]}`)).status);
      }
    };
    const change = async () => {
      for (const search of [true, ['title'], false, ['deep.text', 'title'], true, ['title', 'n']]) {
        expect((await put('busy', { search })).status).toBe(200);
        // Writers are refused where it changes again and again under one call.
        for (let i = 0; i < 5; i++) await bed.create('busy', { title: 'between' });
      }
    };
    await Promise.all([change(), ...[0, 1, 2].map(write)]);
    await untilReady('busy');
    expect(await wrongWords('busy')).toEqual([]);
    await switchOn('busy', true);
    expect(await wrongWords('busy')).toEqual([]);
    expect(await count('busy', 'upserted')).toBe(75);
    expect(await count('busy', 'old1')).toBe(0);
  });

  it('are right for a process that has not heard of them yet', async () => {
    const other = await createTestBed({}, {}, { databaseUrl: bed.databaseUrl });
    const made = await other.create('late', { title: 'one' });
    await switchOn('late', true);
    const identity = asKey();
    const found = await other.call('GET', '/db/late?search=one', { identity });
    expect([found.status, found.body.items]).toMatchObject([200, [{ title: 'one' }]]);
    await put('late', { search: ['text'] });
    await other.call('DELETE', `/db/late/${made.id}`, { identity });
    await other.create('late', { title: 'one', text: 'two' });
    await untilReady('late');
    for (const [search, number] of [
      ['one', 0],
      ['two', 1],
    ] as const)
      expect(
        (await other.call('GET', `/db/late/_count?search=${search}`, { identity })).body.count,
      ).toBe(number);
    expect(await wrongWords('late')).toEqual([]);
    await other.close();
  });

  it('are led to by the index, however many records there are elsewhere', async () => {
    await switchOn('mine', true);
    await switchOn('theirs', true);
    for (const from of [0, 1000, 2000, 3000, 4000, 5000, 6000, 7000])
      await bed.database.query(
        `INSERT INTO search_texts (project_id, coll_id, number, record_id, words)
         SELECT project_id, coll_id, number, uuidv7(), search_words(
           jsonb_build_object('title', 'common w' || n % 500), NULL,
           concat_ws('.', to_base36(project_id), to_base36(coll_id), to_base36(number)) || '.')
         FROM searches JOIN collections USING (project_id, coll_id), generate_series($1::int, $1 + 999) n
         WHERE name IN ('mine', 'theirs') AND searches.state = 'ready'`,
        [from],
      );
    await bed.ownerDatabase.query('ANALYZE search_texts');
    const [collection] = await bed.database.query<{
      projectNumber: number;
      id: number;
      number: number;
    }>(
      `SELECT project_id AS "projectNumber", coll_id AS id, number FROM searches JOIN collections USING (project_id, coll_id)
       WHERE name = 'mine' AND searches.state = 'ready'`,
    );
    if (!collection) throw new Error('no search');
    const search: CollectionSearch = {
      number: collection.number,
      fields: null,
      state: 'ready',
      isFormer: false,
    };
    const access = resolveAccess('shared', asKey());
    const known: Collection = {
      ...collection,
      search,
      name: 'mine',
      access: 'shared',
      epoch: 1,
      slots: [],
      unique: [],
    };
    const terms = toSearchTerms(known, access, { words: ['w77'], former: [] });
    const selection = { collection: known, access, filter: splitFilter(parseWhere(undefined)) };
    const { text, values } = searchCountStatement({ ...selection, ownerId: undefined }, terms, {
      rows: 100_000,
      ms: 800,
    });
    const plan = await bed.database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE) ${text}`,
      values,
    );
    const lines = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(lines).toContain('Bitmap Index Scan on search_texts_words');
    expect(lines).toMatch(/Bitmap Index Scan on search_texts_words.*actual.* rows=16\b/);
  });

  it('find nothing of another project', async () => {
    const project = { ...testProject, id: 'other', number: 4001 };
    const at = '/platform/projects/other/collections/recipes';
    await bed.call('PUT', at, { identity: asOwner({ project }), body: { search: true } });
    await bed.create('recipes', { title: 'Tea elsewhere' }, asKey({ project }));
    await until(async () => {
      const { status } = await get('recipes', { search: 'tea' }, asKey({ project }));
      return status === 200;
    });
    expect(await titles('recipes', 'tea', {}, asKey({ project }))).toEqual(['Tea elsewhere']);
    expect(await titles('recipes', 'elsewhere')).toEqual([]);
  });
});
