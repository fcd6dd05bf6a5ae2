import { expect, it } from '@jest/globals';
import { pauses } from './pauses.ts';

const first = (count: number, random: () => number) => {
  const all = pauses(random);
  return Array.from({ length: count }, () => all.next().value);
};

it('grow to some seconds, each in its upper half by chance', () => {
  expect(first(7, () => 1)).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000]);
  expect(first(5, () => 0)).toEqual([125, 250, 500, 1000, 2000]);
});
