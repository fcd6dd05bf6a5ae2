import { DatabaseUnavailable } from '@backlot/database';
import { expect, it } from '@jest/globals';
import { gatherWrites } from './gathered-writes.ts';

const [here, there] = [{ name: 'here' }, { name: 'there' }];

/** Writes of texts; those with "bad" fail. */
const setUp = (failure = new Error('bad')) => {
  const written: [string, readonly string[]][] = [];
  const write = async ({ name }: { name: string }, items: readonly string[]) => {
    written.push([name, items]);
    if (items.includes('bad')) throw failure;
    return items.map((item) => `${item} is written`);
  };
  const add = gatherWrites(write, (a, b) => a === b);
  return { add, written };
};

it('writes what comes in one turn for one place with one statement, eight at most', async () => {
  const { add, written } = setUp();
  const few = [add(here, 'a'), add(there, 'b'), add(here, 'c')];
  expect(await Promise.all(few)).toEqual(['a is written', 'b is written', 'c is written']);
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

it('writes what does not go together with another statement', async () => {
  const { add, written } = setUp();
  await Promise.all(['a', 'b', 'a', 'c', 'a'].map((item) => add(here, item)));
  expect(written.map(([, items]) => items)).toEqual([['a', 'b'], ['a', 'c'], ['a']]);
});

it('does not try again what may have been written', async () => {
  const lost = setUp(new DatabaseUnavailable('gone'));
  const results = await Promise.allSettled([lost.add(here, 'a'), lost.add(here, 'bad')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(lost.written).toHaveLength(1);
});
