export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type ComparisonSign = '>' | '>=' | '<' | '<=';
export type TextMatch = 'contains' | 'startsWith' | 'endsWith';

/** A condition on the value of a field. Operands of `createdAt` and `updatedAt` are timestamps. */
export type Test =
  | { op: 'eq'; value: Json }
  | { op: 'in'; values: Json[] }
  | { op: 'compare'; sign: ComparisonSign; value: string | number | boolean }
  | { op: 'exists' }
  | { op: 'size'; length: number }
  | { op: 'text'; match: TextMatch; text: string; ignoreCase: boolean };

/**
 * A `where` with the fewest kinds of nodes: negative operators are `not`, `$all` is an `and` with `isAll`. An
 * empty `and` matches every record, an empty `or` none. A test with `isWhole` is of the field's value as a whole,
 * and fails where there is a list on the way to it; without it, the elements of lists pass too.
 */
export type Filter =
  | { kind: 'and' | 'or'; filters: Filter[]; isAll?: true }
  | { kind: 'not'; filter: Filter }
  | { kind: 'test'; field: string; test: Test; isWhole?: true };

export const matchesMissing = (test: Test): boolean =>
  (test.op === 'eq' && test.value === null) || (test.op === 'in' && test.values.includes(null));

export const fieldsIn = (filter: Filter): string[] => {
  switch (filter.kind) {
    case 'test':
      return [filter.field];
    case 'not':
      return fieldsIn(filter.filter);
    default:
      return filter.filters.flatMap(fieldsIn);
  }
};

/** The parts that all have to hold. */
export const flattenAnd = (filter: Filter): Filter[] =>
  filter.kind === 'and' ? filter.filters.flatMap(flattenAnd) : [filter];
