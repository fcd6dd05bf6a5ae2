import { asKey, asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { search as toQuery } from '../testing/search.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('large answers by words', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    const path = `/platform/projects/${testProject.id}/collections`;
    for (const name of ['heavy', 'light'])
      await bed.call('PUT', `${path}/${name}`, {
        identity: asOwner(),
        body: { search: ['title'] },
      });
    await until(async () => {
      const { items } = (await bed.call('GET', path, { identity: asOwner() })).body;
      return items.every(({ search }: { search: { state: string } }) => search.state === 'ready');
    });
  });
  afterAll(() => bed.close());

  it('have the same order, pages and total where the answer is sent in parts', async () => {
    const kilobytes = [120, 1, 300, 700, 40, 200, 90];
    for (const [n, size] of kilobytes.entries()) {
      const title = `tea${n % 2 ? 'pot' : ''} ${'tea '.repeat((n * 3) % 7)}`;
      await bed.create('light', { title, n });
      await bed.create('heavy', { title, n, text: 'x'.repeat(size * 1000) });
    }
    await bed.create('heavy', { title: 'coffee', n: 9, text: 'x'.repeat(300_000) });
    const where = { n: { $ne: 4 } };
    for (const query of [{}, { sort: 'n' }, { where }, { limit: 3 }, { limit: 2, offset: 1 }]) {
      const seen: unknown[] = [];
      for (const at of ['heavy', 'light']) {
        const found: number[] = [];
        let next: object | undefined = {};
        while (next) {
          const path = `/db/${at}?${toQuery({ search: 'tea', total: 1, ...query, ...next })}`;
          const { body } = await bed.call('GET', path, { identity: asKey() });
          found.push(...body.items.map(({ n }: { n: number }) => n), -body.total);
          const isOver = !body.nextCursor || 'offset' in query;
          next = isOver ? undefined : { cursor: body.nextCursor };
        }
        seen.push(found);
      }
      expect(seen[0]).toEqual(seen[1]);
    }
  });
});
