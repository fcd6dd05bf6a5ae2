import { createSecretKey } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { parseWhere } from '../where/parse.ts';
import { decodePosition, encodePosition } from './cursor.ts';
import { parseSort } from './sort.ts';

it('a cursor opens behind whatever id PostgreSQL keeps, of no known kind too', () => {
  const scope = {
    projectNumber: 1,
    collection: 'tasks',
    ownerId: undefined,
    sort: parseSort('n'),
    filter: parseWhere(undefined),
  };
  const secrets = [createSecretKey(Buffer.alloc(32))];
  const position = {
    keys: [{ text: '2', isCut: false }],
    id: '018f0000-0000-f000-f000-0000000000a1',
  };
  expect(decodePosition(encodePosition(position, scope, secrets), scope, secrets)).toEqual(
    position,
  );
});
