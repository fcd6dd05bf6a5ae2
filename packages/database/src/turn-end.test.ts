import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { atTurnsEnd } from './turn-end.ts';

it('runs at the end of a turn what was asked for in it, in order and each in its own context', async () => {
  const context = new AsyncLocalStorage<string>();
  const ran: (string | undefined)[] = [];
  const run = () => void ran.push(context.getStore());
  context.run('first', () => {
    atTurnsEnd(() => {
      run();
      atTurnsEnd(run);
    });
  });
  context.run('second', () => atTurnsEnd(run));
  atTurnsEnd(run);
  await Promise.resolve();
  expect(ran).toEqual([]);
  await setImmediate();
  expect(ran).toEqual(['first', 'second', undefined, 'first']);
  context.run('next turn', () => atTurnsEnd(run));
  await setImmediate();
  expect(ran.slice(4)).toEqual(['next turn']);
});
