/** JSON as a client sent it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type Sign = '>' | '>=' | '<' | '<=';
export type TextMatch = 'contains' | 'startsWith' | 'endsWith';

/** One condition on the value of a field. Of `createdAt` and `updatedAt` the operands are Instants. */
export type Test =
  | { op: 'eq'; value: Json }
  | { op: 'in'; values: Json[] }
  | { op: 'compare'; sign: Sign; value: string | number | boolean }
  | { op: 'exists' }
  | { op: 'size'; length: number }
  | { op: 'text'; match: TextMatch; text: string; ignoreCase: boolean };

/**
 * What a `where` means, in as few words as possible: the negative operators are `not`, `$all` is an
 * `and`, an `and` of nothing holds for every record and an `or` of nothing for none.
 */
export type Filter =
  | { kind: 'and' | 'or'; filters: Filter[] }
  | { kind: 'not'; filter: Filter }
  | { kind: 'test'; field: string; test: Test };

export const everything: Filter = { kind: 'and', filters: [] };
