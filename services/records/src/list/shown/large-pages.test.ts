import { expect, it } from '@jest/globals';
import { encloseParts } from './large-pages.ts';

it.each([
  [[], ['{[]}']],
  [['1'], ['{[', '1', ']}']],
  [
    ['1', '2'],
    ['{[', '1', ',', '2', ']}'],
  ],
])('parts are enclosed and not joined with what stands between: %j', async (texts, expected) => {
  const left = [...texts];
  const parts = encloseParts('{[', { next: async () => left.shift(), close() {} }, ']}');
  const sent: string[] = [];
  for (let part = await parts.next(); part !== undefined; part = await parts.next())
    sent.push(part.toString());
  expect(sent).toEqual(expected);
  expect(await parts.next()).toBeUndefined();
});
