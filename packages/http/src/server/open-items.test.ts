import { expect, it } from '@jest/globals';
import { createOpenItems } from './open-items.ts';

it('holds what was taken in and not out again, and uses what is free anew', () => {
  const items = createOpenItems<{ name: string }>();
  const leaveA = items.take({ name: 'a' });
  const leaveB = items.take({ name: 'b' });
  leaveA();
  items.take({ name: 'c' });
  expect(items.all().map(({ name }) => name)).toEqual(['c', 'b']);
  leaveB();
  expect(items.all().map(({ name }) => name)).toEqual(['c']);
});
