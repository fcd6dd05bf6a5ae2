import { asKey } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import { resolveAccess } from '../../collections/access.ts';
import { parseWhere } from '../../where/parse.ts';
import type { ListQuery } from '../list-statement.ts';
import { splitFilter } from '../selection.ts';
import { parseSort } from '../sort.ts';
import { createExactWalks } from './exact-walks.ts';

it('walks in tables of their own take no prepared statement from those in the shared one', () => {
  const find = createExactWalks({ scanRows: 100_000, pageBytes: 1024 * 1024 });
  const query = (ownTable?: 'used', id = 1): ListQuery => ({
    collection: {
      ...{ projectNumber: 1, id, name: 'x', access: 'shared', epoch: 1, unique: [], ownTable },
      slots: [{ number: 1, field: 'n', state: 'ready', distinctShare: 1 }],
    },
    access: resolveAccess('shared', asKey()),
    filter: splitFilter(parseWhere('{"n":5}')),
    ...{ ownerId: undefined, sort: parseSort(), limit: 10, offset: 0, after: undefined },
  });
  const names = Array.from({ length: 601 }, (_, id) => find(query('used', id))?.name);
  expect(new Set(names.slice(0, 300)).size).toBe(300);
  expect(names.at(-1)).toBeUndefined();
  expect(find(query('used', 7))?.name).toBe(names[7]);
  expect(find(query())?.name).toMatch(/^records_walk_k1/);
});
