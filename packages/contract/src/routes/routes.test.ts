import { describe, expect, it, jest } from '@jest/globals';
import type { z } from 'zod';
import type { RouteDefinition } from '../define-route.ts';
import { routes } from './index.ts';

const repeated = (values: string[]) => values.filter((value, at) => values.indexOf(value) !== at);

it('each route stands in the list once, under an id of its own, which identities are signed for', () => {
  expect(repeated(routes.map(({ operationId }) => operationId))).toEqual([]);
  expect(repeated(routes.map(({ plane, method, path }) => `${plane} ${method} ${path}`))).toEqual(
    [],
  );
});

type Place = [string, (value: unknown) => unknown, z.ZodType];
/** Texts, and lists and records whose elements have a form of their own, each with a body that holds it. */
const findPlaces = (schema: z.ZodType, at: string, wrap: Place[1]): Place[] => {
  const { def } = schema as z.ZodType & { def: z.core.$ZodTypes['_zod']['def'] };
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape).flatMap(([name, field]) =>
        findPlaces(field as z.ZodType, `${at}.${name}`, (value) => wrap({ [name]: value })),
      );
    case 'string':
      return [[at, wrap, schema]];
    case 'array':
      return [
        [`${at}[]`, wrap, schema],
        ...findPlaces(def.element as z.ZodType, `${at}[]`, (value) => wrap([value])),
      ];
    case 'record':
      return def.valueType._zod.def.type === 'unknown' ? [] : [[`${at}{}`, wrap, schema]];
    case 'union':
      return def.options.flatMap((option, n) =>
        findPlaces(option as z.ZodType, `${at}|${n}`, wrap),
      );
    case 'optional':
    case 'nullable':
    case 'default':
      return findPlaces(def.innerType as z.ZodType, at, wrap);
    case 'pipe':
      return findPlaces(def.out as z.ZodType, at, wrap);
    default:
      return [];
  }
};
const places = routes.flatMap((route: RouteDefinition) =>
  route.body
    ? findPlaces(route.body, '', (value) => value).map(
        ([at, wrap, schema]) => [route.operationId + at, wrap, schema, route.body] as const,
      )
    : [],
);

describe('what a body holds too many of', () => {
  /** Counts how often zod looks at one. */
  const many = (count: number, wrong: unknown) => {
    const looks = { count: 0 };
    const get = () => {
      looks.count += 1;
      return wrong;
    };
    const entries = Array.from({ length: count }, (_, index) => [`k${index}`, get] as const);
    const list: unknown[] = [];
    const record: Record<string, unknown> = {};
    for (const [index, [name]] of entries.entries()) {
      Object.defineProperty(list, index, { get, enumerable: true });
      Object.defineProperty(record, name, { get, enumerable: true });
    }
    return { looks, list, record };
  };

  const lists = places.filter(([, , { type }]) => type !== 'string');

  it.each(lists)('is refused before it is looked at: %s', (_place, wrap, schema, body) => {
    const { looks, list, record } = many(12_000, {});
    expect(body?.safeParse(wrap(schema.type === 'array' ? list : record)).success).toBe(false);
    expect(looks.count).toBe(0);
  });
});

it('a text that is too long for an address is refused before it is read as one', () => {
  const long = `https://example.org/${'a'.repeat(4096)}`;
  const read: unknown[] = [];
  const RealUrl = URL;
  globalThis.URL = class extends RealUrl {
    constructor(address: string | URL, base?: string | URL) {
      read.push(address);
      super(address, base);
    }
    static override canParse(address: string, base?: string) {
      read.push(address);
      return RealUrl.canParse(address, base);
    }
  };
  const withLongRead = places.filter(([, wrap, , body]) => {
    read.length = 0;
    body?.safeParse(wrap(long));
    return read.includes(long);
  });
  globalThis.URL = RealUrl;
  expect(withLongRead.map(([place]) => place)).toEqual([]);
});

/** Composing marks takes time that grows with the square of their number: 80,000 of them 1.3 s. */
it.each([
  ['sendEmail', (long: string) => ({ to: long, subject: 's', text: 't' })],
  ['sendEmail', (long: string) => ({ to: ['a@example.org', long], subject: 's', text: 't' })],
  ['signUp', (long: string) => ({ email: 'a@example.org', password: long })],
])('a text that is too long is refused by %s before it is composed', (id, wrap) => {
  const composed: number[] = [];
  const { normalize } = String.prototype;
  const spy = jest.spyOn(String.prototype, 'normalize').mockImplementation(function (
    this: string,
    form,
  ) {
    composed.push(this.length);
    return Reflect.apply(normalize, this, [form]);
  });
  const { body } = routes.find(({ operationId }) => operationId === id) as RouteDefinition;
  const { success } = body?.safeParse(wrap(`a${'\u0301\u0323'.repeat(1000)}`)) ?? {};
  spy.mockRestore();
  expect(success).toBe(false);
  expect(Math.max(0, ...composed)).toBeLessThanOrEqual(320);
});
