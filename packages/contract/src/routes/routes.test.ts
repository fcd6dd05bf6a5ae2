import { expect, it } from '@jest/globals';
import { routes } from './index.ts';

const repeated = (values: string[]) => values.filter((value, at) => values.indexOf(value) !== at);

it('each route stands in the list once, under an id of its own, which identities are signed for', () => {
  expect(repeated(routes.map(({ operationId }) => operationId))).toEqual([]);
  expect(repeated(routes.map(({ plane, method, path }) => `${plane} ${method} ${path}`))).toEqual(
    [],
  );
});
