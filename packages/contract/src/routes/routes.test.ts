import { describe, expect, it } from '@jest/globals';
import { type KeyScope, neededScope } from '../define-route.ts';
import { routes } from './index.ts';

const repeated = (values: string[]) => values.filter((value, at) => values.indexOf(value) !== at);

it('each route stands in the list once, under an id of its own, which identities are signed for', () => {
  expect(repeated(routes.map(({ operationId }) => operationId))).toEqual([]);
  expect(repeated(routes.map(({ plane, method, path }) => `${plane} ${method} ${path}`))).toEqual(
    [],
  );
});

describe('the scope that a key needs', () => {
  const withScope = (scope: KeyScope) =>
    routes.filter((route) => neededScope(route) === scope).map(({ operationId }) => operationId);

  it('is "admin" for what a key may do on the control plane and for roles, and no more', () => {
    expect(withScope('admin').sort()).toEqual([
      'checkAccess',
      'deletePrompt',
      'deleteUser',
      'getProject',
      'listCollections',
      'listEmails',
      'listProjectFiles',
      'listPrompts',
      'listUsers',
      'setCollectionAccess',
      'setLimits',
      'setPrompt',
      'setUserRole',
      'updateProject',
      'updateUser',
    ]);
  });

  it.each(routes.map((route) => [route.operationId, route] as const))(
    'is right for %s',
    (_operationId, route) => {
      const scope = neededScope(route);
      const opensToKeys = route.callers.includes('key') && !route.ignoresCredentials;
      expect(scope === null).toBe(!opensToKeys);
      if (route.method === 'GET') expect(scope).not.toBe('write');
      else if (!route.answeredBy) expect(scope).not.toBe('read');
      if (route.price) expect(scope).toBe('write');
      const isKept = /\/(keys|secrets|payments|credits|usage|origins|restore|owners)\b/.test(
        route.path,
      );
      if (route.plane === 'platform' && isKept) expect(scope).toBeNull();
    },
  );
});
