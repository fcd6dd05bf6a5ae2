import type { MailFields } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import { appOrigins } from '../template-texts/app-origins.ts';
import { readData } from './data.ts';

const app = appOrigins(
  { id: 'shop', settings: { allowedOrigins: ['https://shop.example'] } },
  'https://api.example',
);
const fields: MailFields = {
  name: { type: 'string', maxLength: 20 },
  note: { type: 'text', optional: true },
  total: { type: 'number', optional: true },
  paid: { type: 'boolean', optional: true },
  order: { type: 'id', optional: true },
  link: { type: 'url', optional: true },
  size: { type: 'string', enum: ['S', 'M'], optional: true },
  items: { type: 'list', maxItems: 2, optional: true, fields: { title: 'string' } },
};
const read = (data: Record<string, unknown>, refusesLinks = false) =>
  readData(fields, { name: 'Ada', ...data }, { app, refusesLinks });

describe('the data of a mail', () => {
  it.each<[Record<string, unknown>, string]>([
    [{ name: undefined }, '"data.name" is missing'],
    [{ name: null }, '"data.name" is missing'],
    [{ name: 5 }, '"data.name" must be a string'],
    [{ name: 'x'.repeat(21) }, '"data.name" may have at most 20 characters'],
    [{ name: 'a\nb' }, '"data.name" must be one line'],
    [{ name: 'a\u202eb' }, '"data.name" must be one line'],
    [{ note: 'a\u0007' }, '"data.note" must be text'],
    [{ note: 'x'.repeat(5001) }, '"data.note" may have at most 5000 characters'],
    [{ total: '5' }, '"data.total" must be a number'],
    [{ paid: 1 }, '"data.paid" must be true or false'],
    [{ order: '../x' }, '"data.order" must be 1 to 100 letters'],
    [{ link: 'https://evil.example/' }, '"data.link" must be an address of the app (https://shop'],
    [{ link: 'https://u:p@shop.example/' }, '"data.link" must be an address of the app'],
    [{ link: 'https://shop.example\\@evil.example/' }, '"data.link" must be an address of the app'],
    [{ link: ' https://shop.example/' }, '"data.link" must be an address of the app'],
    [{ link: 'javascript:alert(1)' }, '"data.link" must be an address of the app'],
    [{ link: '/orders' }, '"data.link" must be an address of the app'],
    [{ size: 'XL' }, '"data.size" must be one of S, M'],
    [{ items: 'x' }, '"data.items" must be a list of at most 2 objects'],
    [{ items: [{}, {}, {}] }, '"data.items" must be a list of at most 2 objects'],
    [{ items: ['x'] }, '"data.items" must be a list'],
    [{ items: [{ title: 'a' }, {}] }, '"data.items.1.title" is missing'],
    [{ items: [{ title: 'a', price: 1 }] }, '"data.items.0.price" is none of the fields: title'],
    [{ nmae: 'x' }, '"data.nmae" is none of the fields: name, note'],
    [{ constructor: 'x' }, '"data.constructor" is none of the fields'],
  ])('%j is refused by name', (data, reason) => {
    expect(() => read(data)).toThrow(reason);
  });

  it('is refused with all that is wrong at once, and at most ten of it', () => {
    expect(() => read({ total: 'x', paid: 'x' })).toThrow(
      '"data.total" must be a number; "data.paid" must be true or false.',
    );
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`x${n}`, 1]));
    let message = '';
    try {
      read(many);
    } catch (error) {
      message = String(error);
    }
    expect(message.split(';')).toHaveLength(10);
  });

  it('keeps what fits, and nothing of any prototype', () => {
    const view = read({ note: 'a\r\nb', total: 0, link: 'https://shop.example/x' });
    expect({ ...view }).toEqual({
      name: 'Ada',
      note: 'a\nb',
      total: 0,
      link: 'https://shop.example/x',
    });
    expect('constructor' in view).toBe(false);
  });

  it.each([
    'see evil.example',
    'http://x',
    'www.evil',
    'me@evil.example',
    'ｅvil．example',
    'x://y',
  ])('holds no link that a visitor sends to others: %s', (name) => {
    expect(() => read({ name }, true)).toThrow('mail programs make a link');
    expect(() => read({ name })).not.toThrow();
  });

  it.each(['Mr. Ada, e.g. 3.50 at 9.15 a.m.', 'U.S.A.', 'and so on...', 'Ada (she/her): hi'])(
    'takes for no link what is none: %s',
    (note) => {
      expect(() => read({ note }, true)).not.toThrow();
    },
  );
});
