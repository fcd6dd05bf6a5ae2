import { setImmediate } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { batchCalls } from './batched-calls.ts';
import { DatabaseUnavailable } from './errors.ts';

const [here, there] = [{ name: 'here' }, { name: 'there' }];

/** Writes of texts; those with "bad" fail. */
const setUp = (failure = new Error('bad')) => {
  const written: [string, readonly string[]][] = [];
  let held: Promise<void> | undefined;
  const write = async ({ name }: { name: string }, items: readonly string[]) => {
    written.push([name, items]);
    await held;
    if (items.includes('bad')) throw failure;
    return items.map((item) => `${item} is written`);
  };
  const add = batchCalls(write, (a, b) => a === b);
  /** Writes take until the returned function is called. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return resolve;
  };
  return { add, written, hold };
};

it('writes what comes for one key within a turn of the event loop with one statement', async () => {
  const { add, written } = setUp();
  const few = [add(here, 'a'), add(there, 'b'), add(here, 'c')];
  await setImmediate();
  few.push(add(here, 'd'));
  expect(await Promise.all(few)).toEqual(['a', 'b', 'c', 'd'].map((item) => `${item} is written`));
  expect(written).toEqual([
    ['here', ['a', 'c']],
    ['there', ['b']],
    ['here', ['d']],
  ]);
});

it('writes at once where all are there that can come', async () => {
  const { add, written } = setUp();
  const all = Array.from({ length: 40 }, (_, n) => add(here, `${n}`));
  expect(written.map(([, items]) => items.length)).toEqual([16, 16]);
  await Promise.all(all);
  expect(written.slice(2).map(([, items]) => items.length)).toEqual([8]);
});

it('batches what comes while more are under way, until as many have come or those are back', async () => {
  const { add, written, hold } = setUp();
  const release = hold();
  const all = ['a', 'b', 'c'].map((item) => add(here, item));
  await setImmediate();
  all.push(add(here, 'd'), add(here, 'e'), add(there, 'x'));
  await setImmediate();
  expect(written.map(([key, items]) => [key, items.length])).toEqual([
    ['here', 3],
    ['there', 1],
  ]);
  all.push(add(here, 'f'));
  await setImmediate();
  expect(written.slice(2)).toEqual([['here', ['d', 'e', 'f']]]);
  all.push(add(here, 'g'));
  await setImmediate();
  expect(written).toHaveLength(3);
  release();
  // The calls of the last statement hear of it once the next one is on its way.
  await all[6];
  expect(written.slice(3)).toEqual([['here', ['g']]]);
  await Promise.all(all);
});

it('has nobody wait for changes of one record', async () => {
  const { add, written, hold } = setUp();
  const release = hold();
  const all = ['a', 'a', 'a', 'a'].map((item) => add(here, item));
  await setImmediate();
  all.push(add(here, 'b'));
  await setImmediate();
  expect(written.map(([, items]) => items)).toEqual([['a'], ['a'], ['a'], ['a'], ['b']]);
  release();
  await Promise.all(all);
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
