/** JSON as a client sent it. */
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
 * A `where` with the fewest kinds of nodes: negative operators are `not`, `$all` is an `and`. An empty
 * `and` matches every record, an empty `or` none.
 */
export type Filter =
  | { kind: 'and' | 'or'; filters: Filter[] }
  | { kind: 'not'; filter: Filter }
  | { kind: 'test'; field: string; test: Test };

/** The fields that a filter asks for; one may come more than once. */
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
