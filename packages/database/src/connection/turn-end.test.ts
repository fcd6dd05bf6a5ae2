import { setImmediate } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { atTurnsEnd } from './turn-end.ts';

it('runs at the end of a turn what was asked for in it, in order', async () => {
  const ran: string[] = [];
  atTurnsEnd(() => {
    ran.push('first');
    atTurnsEnd(() => void ran.push('third'));
  });
  atTurnsEnd(() => void ran.push('second'));
  await Promise.resolve();
  expect(ran).toEqual([]);
  await setImmediate();
  expect(ran).toEqual(['first', 'second', 'third']);
  atTurnsEnd(() => void ran.push('next turn'));
  await setImmediate();
  expect(ran.slice(3)).toEqual(['next turn']);
});
