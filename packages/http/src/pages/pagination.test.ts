import { describe, expect, it } from '@jest/globals';
import { type PageQuery, type Position, readPage } from './pagination.ts';

describe('a page of items that may be large', () => {
  const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  /** A list of texts of so many letters each. */
  const listOf = (sizes: readonly number[], letter = 'x') => {
    const rows = sizes.map((size, n) => ({
      id: uuid(sizes.length - n),
      created_at: new Date(0),
      text: letter.repeat(size),
    }));
    const asked: number[] = [];
    const read = async (after: Position | undefined, count: number) => {
      asked.push(count);
      const start = after ? rows.findIndex(({ id }) => id === after.id) + 1 : 0;
      return rows.slice(start, start + count);
    };
    const page = (query: PageQuery) => readPage('texts', query, read, ({ text }) => text);
    /** Numbers of items of all pages, and whether what they hold is the list. */
    const walk = async (limit: number) => {
      const items: string[] = [];
      const lengths: number[] = [];
      let query: PageQuery = { limit };
      for (;;) {
        const { items: part, hasMore, nextCursor } = await page(query);
        items.push(...part);
        lengths.push(part.length);
        expect(nextCursor !== null).toBe(hasMore);
        if (nextCursor === null) break;
        query = { limit, cursor: nextCursor };
      }
      expect(items).toEqual(rows.map(({ text }) => text));
      return lengths;
    };
    return { asked, page, walk };
  };

  it('ends at its limit, and with the list', async () => {
    expect(await listOf(Array(5).fill(1)).walk(2)).toEqual([2, 2, 1]);
    expect(await listOf(Array(4).fill(1)).walk(2)).toEqual([2, 2]);
    expect(await listOf(Array(120).fill(1)).walk(60)).toEqual([60, 60]);
    expect(await listOf(Array(50).fill(1)).walk(1000)).toEqual([50]);
    expect(await listOf([]).walk(10)).toEqual([0]);
    expect(await listOf([1]).page({ limit: 0 })).toEqual({
      items: [],
      hasMore: true,
      nextCursor: null,
    });
  });

  it('ends with the item that reaches 1 MiB, of which one may be larger', async () => {
    expect(await listOf(Array(10).fill(300_000)).walk(1000)).toEqual([4, 4, 2]);
    expect(await listOf([1, 3_000_000, 1]).walk(1000)).toEqual([2, 1]);
    const { walk } = listOf(Array.from({ length: 60 }, (_, n) => (n < 30 ? 10 : 100_000)));
    expect(await walk(1000)).toEqual([41, 11, 8]);
  });

  it('counts bytes, of which a letter may have three', async () => {
    expect(await listOf(Array(4).fill(400_000), '語').walk(1000)).toEqual([1, 1, 1, 1]);
  });

  it('reads few rows at a time', async () => {
    const small = listOf(Array(60).fill(1));
    await small.page({ limit: 1000 });
    expect(small.asked).toEqual([26, 26, 26]);
    const large = listOf(Array(1000).fill(300_000));
    await large.page({ limit: 1000 });
    expect(large.asked).toEqual([26]);
  });
});
