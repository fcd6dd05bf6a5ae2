import type { AccessRules } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { type Answer, type Held, missing, ok, refused, show, shutsOut } from './answers.ts';
import type { OperationOf } from './arbitrary-calls.ts';
import {
  alwaysAllows,
  canRead,
  couldAllow,
  type Scalar,
  type Stored,
  seen,
  uses,
  type Value,
} from './words.ts';

type Aggregated = Record<string, unknown>;

const measure = (name: string, values: readonly Scalar[]): Scalar | null => {
  const numbers = values.filter((value) => typeof value === 'number');
  const texts = values.filter((value) => typeof value === 'string').sort();
  const sum = numbers.reduce((total, number) => total + number, 0);
  switch (name) {
    case 'sum':
      return sum;
    case 'avg':
      return numbers.length > 0 ? sum / numbers.length : null;
    case 'min':
      return numbers.length > 0 ? Math.min(...numbers) : (texts[0] ?? null);
    default:
      return numbers.length > 0 ? Math.max(...numbers) : (texts.at(-1) ?? null);
  }
};

/** As lists are sorted, of what the model's records have: null, texts, numbers. */
const rank = (value: unknown) => ['object', 'string', 'number'].indexOf(typeof value);
const compare = (a: Scalar | null, b: Scalar | null): number =>
  rank(a) - rank(b) || (a === b ? 0 : (a ?? 0) < (b ?? 0) ? -1 : 1);

type Plain = Record<string, Scalar>;

const toKey = (data: Plain, by: readonly string[]): (Scalar | null)[] =>
  by.map((name) => data[name] ?? null);

/** The groups of `_aggregate`, the largest first where no order is asked. */
const aggregate = (
  records: readonly Plain[],
  { by, measures, distinct, having, inOrder }: OperationOf<'aggregate'>,
): Aggregated[] => {
  const groups = Map.groupBy(records, (data) => JSON.stringify(toKey(data, by)));
  if (by.length === 0 && records.length === 0) groups.set('[]', []);
  const made = [...groups].map(([text, members]) => {
    const key = JSON.parse(text) as (Scalar | null)[];
    return {
      key,
      ...(by.length > 0 && { group: by.length === 1 ? key[0] : key }),
      count: members.length,
      ...Object.fromEntries(
        measures.map(([name, field]) => {
          const values = members.flatMap((data) => data[field] ?? []);
          return [name, { [field]: measure(name, values) }];
        }),
      ),
      ...(distinct !== undefined && {
        distinct: { [distinct]: new Set(members.flatMap((data) => data[distinct] ?? [])).size },
      }),
    };
  });
  return made
    .filter(({ count }) => having === undefined || count > having)
    .sort((a, b) => {
      const differences = inOrder
        ? [...a.key.map((value, i) => compare(value, b.key[i] ?? null)), a.count - b.count]
        : [];
      return (
        differences.find((difference) => difference !== 0) ??
        (b.count - a.count || (JSON.stringify(a.group) < JSON.stringify(b.group) ? -1 : 1))
      );
    })
    .map(({ key: _key, ...group }) => group);
};

/** By words of the field `other`: who reads anything at all, and from whom no record hides it. */
const maySearch = ({ read, fields }: AccessRules, who: Identity): boolean =>
  !couldAllow(read, who) || alwaysAllows(fields?.other?.read, who);

const passes = (value: Value | undefined, condition: unknown): boolean => {
  if (typeof condition === 'number') return value === condition;
  const { $gt, $exists, $ne } = condition as Record<string, number | boolean>;
  if ($gt !== undefined) return typeof value === 'number' && value > Number($gt);
  if ($exists !== undefined) return (value !== undefined) === $exists;
  return value !== $ne;
};

/** Those that fit, or the refusal. @param named the fields that the call asks for */
const select = (
  { rules, records }: Held,
  who: Identity,
  { where, group, search }: Partial<Omit<OperationOf<'count'>, 'kind'>>,
  named: readonly (string | undefined)[] = [],
): Stored[] | Answer => {
  if (group !== undefined && !uses(rules, 'group')) return { status: 400 };
  if (shutsOut(rules, who, 'read')) return { status: 401 };
  const isHidden = (name: string | undefined) =>
    name !== undefined && !couldAllow(rules.fields?.[name]?.read, who);
  if ([where?.[0], ...named].some(isHidden)) return refused(who);
  if (search && !maySearch(rules, who)) return refused(who);
  return records.filter(
    (record) =>
      canRead(rules, who, record) &&
      (search === undefined || record.data.other === search) &&
      (group === undefined || record.groupId === group) &&
      (!where || passes(seen(rules, who, record)[where[0]], where[1])),
  );
};

export const list = (held: Held, who: Identity, operation: OperationOf<'list'>): Answer => {
  const { sort } = operation;
  const found = select(held, who, operation, [sort?.[1]]);
  if (!Array.isArray(found)) return found;
  const [sign, name] = sort ?? ['-', undefined];
  const key = (record: Stored) =>
    name === undefined ? 0 : Number(seen(held.rules, who, record)[name] ?? -1);
  const inOrder = found.sort((a, b) => key(a) - key(b) || (a.id < b.id ? -1 : 1));
  const items = (sign === '-' ? inOrder.reverse() : inOrder).map((record) =>
    show(held, who, record, operation),
  );
  return ok({ items, total: items.length });
};

/** As PostgreSQL writes it, whatever order its keys came in. */
const inKeyOrder = (value: unknown): string =>
  JSON.stringify(value, Object.keys(Object(value)).sort());

/** As the cells of a row of CSV. */
const inCells = (record: object): object =>
  Object.fromEntries(
    Object.entries(record)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, typeof value === 'string' ? value : inKeyOrder(value)]),
  );

/** Of CSV the names of columns too, of which none may tell of a field that the caller does not see. */
export const exportLines = (
  held: Held,
  who: Identity,
  operation: OperationOf<'export'>,
): Answer => {
  const { shown, isCsv } = operation;
  const found = select(held, who, operation);
  if (!Array.isArray(found)) return found;
  const inOrder = found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const lines = inOrder.map((record) => show(held, who, record, { shown }));
  if (!isCsv) return ok({ lines });
  const readable = held.records.filter((record) => canRead(held.rules, who, record));
  const names = readable.flatMap((record) => Object.keys(seen(held.rules, who, record)));
  return ok({ columns: shown ?? [...new Set(names)].sort(), lines: lines.map(inCells) });
};

export const count = (held: Held, who: Identity, operation: OperationOf<'count'>): Answer => {
  const found = select(held, who, operation);
  return Array.isArray(found) ? ok(found.length) : found;
};

export const sum = (held: Held, who: Identity, operation: OperationOf<'aggregate'>): Answer => {
  const { where, by, measures, distinct } = operation;
  const named = [...by, ...measures.map(([, field]) => field), distinct];
  const found = select(held, who, { where }, named);
  if (!Array.isArray(found)) return found;
  const groups: Aggregated[] = aggregate(
    // No sum is of the field that has objects.
    found.map((record) => seen(held.rules, who, record) as Plain),
    operation,
  );
  return ok(groups);
};

export const get = (
  held: Held,
  who: Identity,
  record: Stored | undefined,
  operation: OperationOf<'get'>,
): Answer => {
  if (shutsOut(held.rules, who, 'read')) return { status: 401 };
  return record && canRead(held.rules, who, record)
    ? ok(show(held, who, record, operation))
    : missing;
};
