import type { Pays } from '@backlot/contract';
import { expect, it } from '@jest/globals';
import { isPaid } from './items.ts';

const paid = [
  { name: 'Mug', amount: 1999, quantity: 2, product: 'mug' },
  { name: 'Sticker', amount: 250, quantity: 1, product: 'sticker' },
  { name: 'Tip', amount: 100, quantity: 1 },
];
const payment = { items: paid, amount: 4348, currency: 'usd' };
const mug = { product: 'mug', quantity: 2 };
const others = [{ product: 'sticker' }, { name: 'Tip', amount: 100 }];

it.each([
  ['the same', [mug, ...others]],
  ['another order', [...others, mug]],
  ['a product twice', [{ product: 'mug' }, { product: 'mug' }, ...others]],
  ['the amounts too', [{ ...mug, amount: 1999, colour: 'red' }, ...others]],
])('%s are what was paid', (_what, items) => {
  expect(isPaid('items', items, payment)).toBe(true);
});

it.each([
  ['no items', undefined],
  ['null', null],
  ['nothing', []],
  ['no list', { product: 'mug' }],
  ['texts', ['mug', 'sticker', 'tip']],
  ['fewer', others],
  ['more of one', [{ ...mug, quantity: 3 }, ...others]],
  ['less of one', [{ ...mug, quantity: 1 }, ...others]],
  ['something else', [mug, ...others, { product: 'car' }]],
  ['a negative quantity beside', [mug, ...others, { product: 'car', quantity: -1 }]],
  [
    'a product and the same taken off',
    [mug, ...others, { product: 'car' }, { product: 'car', quantity: -1 }],
  ],
  [
    'more of one and the rest taken off',
    [{ ...mug, quantity: 9 }, { ...mug, quantity: -7 }, ...others],
  ],
  ['none of something else', [mug, ...others, { product: 'car', quantity: 0 }]],
  ['a part', [{ ...mug, quantity: 1.5 }, { product: 'mug', quantity: 0.5 }, ...others]],
  ['a quantity as text', [{ ...mug, quantity: '2' }, ...others]],
  ['another amount', [{ ...mug, amount: 1 }, ...others]],
  ['another free amount', [mug, { product: 'sticker' }, { name: 'Tip', amount: 99 }]],
])('%s are not what was paid', (_what, items) => {
  expect(isPaid('items', items, payment)).toBe(false);
});

it.each<[Pays, boolean]>([
  [{ product: 'mug' }, true],
  [{ product: 'car' }, false],
  [{ amount: 4348, currency: 'usd' }, true],
  [{ amount: 4349, currency: 'usd' }, false],
  [{ amount: 1, currency: 'eur' }, false],
])('%j is judged by what was bought: %s', (pays, expected) => {
  expect(isPaid(pays, undefined, payment)).toBe(expected);
});
