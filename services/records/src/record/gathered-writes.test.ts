import { DatabaseUnavailable } from '@backlot/database';
import { expect, it } from '@jest/globals';
import { gatherWrites } from './gathered-writes.ts';

const [here, there] = [{ name: 'here' }, { name: 'there' }];

/** Writes of texts; those with "bad" fail. */
const setUp = (failure = new Error('bad')) => {
  const written: [string, readonly string[]][] = [];
  const add = gatherWrites<{ name: string }, string>(async ({ name }, items) => {
    written.push([name, items]);
    if (items.includes('bad')) throw failure;
    return !items.includes('stale');
  });
  return { add, written };
};

it('writes what comes in one turn for one place with one statement, eight at most', async () => {
  const { add, written } = setUp();
  const few = [add(here, 'a'), add(there, 'b'), add(here, 'c')];
  expect(await Promise.all(few)).toEqual([true, true, true]);
  expect(written).toEqual([
    ['here', ['a', 'c']],
    ['there', ['b']],
  ]);
  await Promise.all(Array.from({ length: 20 }, (_, n) => add(here, `${n}`)));
  expect(written.slice(2).map(([, items]) => items.length)).toEqual([8, 8, 4]);
});

it('writes each by itself where one of them fails, which alone fails', async () => {
  const { add, written } = setUp();
  const results = await Promise.allSettled([add(here, 'a'), add(here, 'bad'), add(here, 'c')]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(written.map(([, items]) => items)).toEqual([['a', 'bad', 'c'], ['a'], ['bad'], ['c']]);
});

it('does not try again what may have been written, and tells all where nothing was', async () => {
  const lost = setUp(new DatabaseUnavailable('gone'));
  const results = await Promise.allSettled([lost.add(here, 'a'), lost.add(here, 'bad')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(lost.written).toHaveLength(1);
  const { add } = setUp();
  expect(await Promise.all([add(here, 'a'), add(here, 'stale')])).toEqual([false, false]);
});
