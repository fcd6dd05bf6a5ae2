import { asKey, asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { uuidv7 } from 'uuidv7';
import { wordPrefix } from '../collections/stored/search-words.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

const path = `/platform/projects/${testProject.id}/collections`;

describe('words of texts and of searches', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const call = (method: string, at: string, body?: object) =>
    bed.call(method, `/db/${at}`, { identity: asKey(), ...(body && { body }) });
  const find = (collection: string, search: string) =>
    call('GET', `${collection}?${new URLSearchParams({ search, limit: '1000' })}`);
  const isReady = async (collection: string) => {
    const { items } = (await bed.call('GET', path, { identity: asOwner() })).body;
    const shown = items.find(({ name }: { name: string }) => name === collection);
    return shown.search.state === 'ready';
  };
  const switchOn = async (collection: string, search: true | string[] = true) => {
    await bed.call('PUT', `${path}/${collection}`, { identity: asOwner(), body: { search } });
    await until(() => isReady(collection));
  };

  it.each([
    ['SKU ABC-123', ['123', 'abc-123', 'ABC', 'sku 12']],
    ['AC/DC live', ['DC', 'ac/dc', 'liv']],
    ['mail ada@example.com', ['ada@exam', 'example', 'com', 'ada']],
    ['List<String>', ['String', 'list<str']],
    ['see https://example.com/a/b?c=d', ['b', 'https://example.com', 'd']],
    ['v3.14_rc-2 and foo_bar', ['14', 'rc', 'bar', 'v3.14']],
    ['Crème brûlée'.normalize('NFD'), ['Crème'.normalize('NFC'), 'creme', 'BRULEE', 'brûl']],
    ['Crème'.normalize('NFC'), ['Crème'.normalize('NFD'), 'CREME']],
    ['Straße', ['strasse', 'STRASSE', 'STRAẞE', 'straß']],
    ['Łódź Øresund Ærø', ['lodz', 'ORESUND', 'aero']],
    ['İSTANBUL Isparta ısı', ['istanbul', 'İstanbul', 'ısparta', 'ISI']],
    ['Σίσυφος', ['ΣΊΣΥΦΟΣ', 'σισυφοσ', 'σίσυφος']],
    ['ＦＵＬＬ ﬁne ㎏', ['full', 'fine', 'kg', 'ｆｉｎｅ']],
    ['ёлка Андрей', ['елка', 'АНДРЕИ']],
    ['שָׁלוֹם مُحَمَّد', ['שלום', 'محمد']],
    ['हिन्दी भाषा', ['हिन्दी', 'भा']],
    [
      '明日の天気は晴れ、iPhone手机です',
      ['天気', '天', '晴れ', 'れ', '手机', 'iphone', '明日の天気'],
    ],
    ['ﾗｰﾒﾝ屋', ['ラーメン', 'ーメ', '屋']],
    ['서울특별시', ['특별', '시', '서울']],
    ['สวัสดีครับ', ['ครับ', 'สวัสดี']],
    ['𠮷野家', ['𠮷', '野家']],
  ])('%s is found by each of %j', async (title, searches) => {
    const collection = `c${uuidv7().replaceAll('-', '').slice(-20)}`;
    const { id } = await bed.create(collection, { title }, asOwner());
    await bed.create(collection, { title: 'qqq' });
    await switchOn(collection);
    for (const search of searches) {
      const { status, body } = await find(collection, search);
      expect([search, status, body.items]).toMatchObject([search, 200, [{ id }]]);
    }
  });

  it('count as ten in a search, four pairs of characters as one', async () => {
    await switchOn('bounds');
    const characters = (n: number) =>
      Array.from({ length: n }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
    for (const [search, status] of [
      [characters(41), 200],
      [characters(42), 400],
      [`w ${characters(41)}`, 400],
      [`w ${characters(37)}`, 200],
      ['、・!?<>', 400],
    ] as const)
      expect([search, (await find('bounds', search)).status]).toEqual([search, status]);
  });

  it('fit into what is kept of a record, whatever its text', async () => {
    const text = (count: number, character: (i: number) => string) =>
      Array.from({ length: count }, (_, i) => character(i)).join('');
    const texts = [
      text(65_536, (i) => String.fromCodePoint(0x4e00 + ((i * 7919) % 20_000))),
      text(65_536, (i) => String.fromCodePoint(0x20000 + ((i * 7919) % 40_000))),
      text(65_536, () => '\ufdfa'),
      text(65_536, (i) => String.fromCodePoint(0x3300 + ((i * 31) % 256))),
      text(20_000, (i) => `${i.toString(36)} `),
    ];
    await switchOn('large');
    for (const title of texts) await bed.create('large', { title });
    const most = await bed.database.query<{ words: number; fits: boolean }>(
      `SELECT max(length(words)) AS words, bool_and(kept.size_bytes <= least(2097152, 128 + 32 * r.size_bytes)) AS fits
       FROM search_texts kept JOIN records r ON r.project_id = kept.project_id AND r.id = record_id JOIN collections c ON c.coll_id = r.coll_id AND c.project_id = r.project_id
       WHERE name = 'large'`,
    );
    expect(most).toEqual([{ words: 16_384, fits: true }]);
  });

  const paired = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}ー]/u;
  /** As docs/api.md has it. */
  const cut = (text: string) => {
    const folded = text
      .normalize('NFKC')
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .normalize('NFKD')
      .replaceAll(/[\u0300-\u036f]/gu, '')
      .replaceAll('ς', 'σ')
      .replaceAll('ı', 'i')
      .replaceAll('ł', 'l')
      .normalize('NFC');
    const words: string[] = [];
    for (const token of folded.split(/[^\p{L}\p{N}\p{M}]+/u)) {
      const parts = token.split(
        new RegExp(
          `(?<=${paired.source})(?!${paired.source})|(?<!${paired.source})(?=${paired.source})`,
          'u',
        ),
      );
      for (const part of parts) {
        const characters = [...part];
        const pairs = characters.map((character, i) => character + (characters[i + 1] ?? ''));
        if (part !== '') words.push(...(paired.test(part) ? pairs : [part]));
      }
    }
    return [...new Set(words)].sort();
  };

  it('are those of one rule, for any text', async () => {
    const piece = fc.constantFrom(
      'a',
      'B',
      'ß',
      'ẞ',
      'é',
      'e\u0301',
      'É',
      'Σ',
      'ς',
      'İ',
      'ı',
      'I',
      'ł',
      'ﬁ',
      '１',
      '2',
      '²',
      'ж',
      'Ё',
      '天',
      '気',
      'が',
      'ｶﾞ',
      'ー',
      '한',
      '글',
      'ส',
      'ว',
      '𠮷',
      'क',
      'ि',
      '़',
      ' ',
      '\u00a0',
      '\u3000',
      '-',
      '_',
      '/',
      '.',
      '、',
      '@',
      '<',
      '+',
      '€',
      '🎉',
      "'",
      '’',
      '\\',
      '"',
      '\n',
      '\u0001',
    );
    const texts = fc.array(
      fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
      { minLength: 40, maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(texts, async (all) => {
        const rows = await bed.database.query<{ words: string[] }>(
          `SELECT ARRAY(SELECT DISTINCT word FROM records.cut_words(t)) AS words
           FROM unnest($1::text[]) WITH ORDINALITY texts(t, n) ORDER BY n`,
          [all],
        );
        expect(rows.map(({ words }, i) => [all[i], words.sort()])).toEqual(
          all.map((text) => [text, cut(text)]),
        );
      }),
      { numRuns: 15 },
    );
  });

  it('are kept with every kind of write', async () => {
    await switchOn('writes', ['title', 'deep']);
    const { id } = await bed.create('writes', {
      title: 'made-by/create',
      deep: { a: 'Größe', b: 'x' },
    });
    const seen = async (search: string) => (await find('writes', search)).body.items.length;
    const at = `writes/${id}`;
    expect([await seen('create'), await seen('grosse')]).toEqual([1, 1]);
    await call('PATCH', at, { data: { title: 'by-patch' }, inc: { n: 1 } });
    expect([await seen('patch'), await seen('create'), await seen('grosse')]).toEqual([1, 0, 1]);
    await call('PATCH', `${at}?merge=deep`, { data: { deep: { a: 'über@all' } } });
    expect([await seen('all'), await seen('grosse'), await seen('x')]).toEqual([1, 0, 1]);
    await call('PATCH', at, { unset: ['deep'] });
    expect([await seen('uber'), await seen('patch')]).toEqual([0, 1]);
    await call('PUT', at, { data: { title: 'AC/DC' } });
    expect([await seen('dc'), await seen('patch')]).toEqual([1, 0]);
    await call('PUT', `${at}?upsert=1`, { data: { title: 'up<sert>' } });
    expect([await seen('sert'), await seen('dc')]).toEqual([1, 0]);
    await call('POST', 'writes/_batch', {
      create: [{ data: { title: 'a-batch' } }],
      update: [{ id, data: { title: 'b-batch' } }],
    });
    expect([await seen('batch'), await seen('sert')]).toEqual([2, 0]);
    await call('DELETE', at);
    expect(await seen('batch')).toBe(1);
  });

  it('by the rule before are cut anew in the background, and found all the while', async () => {
    for (let n = 0; n < 120; n++) await bed.create('former', { title: `Crème-${n} x@y.example` });
    await switchOn('former');
    const [search] = await bed.database.query<{ id: number; number: number }>(
      `SELECT coll_id AS id, number FROM searches JOIN collections USING (project_id, coll_id) WHERE name = 'former'`,
    );
    if (!search) throw new Error('no search');
    const { id, number } = search;
    const key = [testProject.number, id];
    const kept = () =>
      bed.database.query<{ words: string }>(
        `SELECT words::text FROM search_texts WHERE project_id = $1 AND coll_id = $2 ORDER BY record_id`,
        key,
      );
    const current = await kept();
    const other = await bed.ownerDatabase.transaction(async () => {
      await bed.ownerDatabase.query(
        `SELECT pg_advisory_xact_lock(hashtextextended('records renewed words', 0))`,
      );
      const prefix = wordPrefix(
        { projectNumber: testProject.number, id },
        { number, fields: null },
      );
      await bed.database.query(
        `UPDATE search_texts SET words = (
           SELECT string_agg('''' || $3 || lexeme || ''':' || array_to_string(positions, ','), ' ')::tsvector
           FROM unnest(to_tsvector('pg_catalog.simple', (SELECT data ->> 'title' FROM records r WHERE r.project_id = $1 AND r.id = record_id))))
         WHERE project_id = $1 AND coll_id = $2`,
        [...key, prefix],
      );
      await bed.database.query(
        'UPDATE searches SET rule = 1 WHERE project_id = $1 AND coll_id = $2',
        key,
      );
      const other = await createTestBed({}, {}, { databaseUrl: bed.databaseUrl });
      const made = await other.create('former', { title: 'Brûlée/new' });
      const seen = async (search: string) => {
        const path = `/db/former/_count?${new URLSearchParams({ search })}`;
        return (await other.call('GET', path, { identity: asKey() })).body.count;
      };
      expect([await seen('crème'), await seen('crème-7'), await seen('brulee')]).toEqual([
        120, 11, 1,
      ]);
      expect(await seen('creme')).toBe(0);
      await other.call('DELETE', `/db/former/${made.id}`, { identity: asKey() });
      return other;
    });
    await until(async () => {
      const left = await bed.database.query(
        'SELECT FROM searches WHERE project_id = $1 AND coll_id = $2 AND rule = 1',
        key,
      );
      return left.length === 0;
    });
    expect(await kept()).toEqual(current);
    for (const search of ['creme', 'crème', 'y.example'])
      expect((await find('former', search)).body.items).toHaveLength(120);
    await other.close();
  });
});
