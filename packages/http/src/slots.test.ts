import { expect, it } from '@jest/globals';
import { createSlots } from './slots.ts';

it('holds what was taken in and not out again, and uses free slots anew', () => {
  const slots = createSlots<{ name: string }>();
  const leaveA = slots.take({ name: 'a' });
  const leaveB = slots.take({ name: 'b' });
  leaveA();
  slots.take({ name: 'c' });
  expect(slots.all().map(({ name }) => name)).toEqual(['c', 'b']);
  leaveB();
  expect(slots.all().map(({ name }) => name)).toEqual(['c']);
});
