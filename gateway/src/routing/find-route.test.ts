import { ApiError, type Method, routes } from '@backlot/contract';
import { createRouteTable } from '@backlot/http';
import { serveForTest } from '@backlot/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createFindRoute, servicePath } from './find-route.ts';
import { readPath } from './read-path.ts';

const findRoute = createFindRoute(routes);

const readFailure = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('It did not fail.');
};

describe('the route of a path', () => {
  it('is found for every entry of the contract, HEAD as GET', () => {
    for (const { plane, method, path, operationId } of routes) {
      const filled = path.replace(/:[A-Za-z]+/g, 'abc');
      expect(findRoute(plane, method, filled, false).definition.operationId).toBe(operationId);
      if (method === 'GET')
        expect(findRoute(plane, 'HEAD', filled, false).definition.operationId).toBe(operationId);
    }
  });

  it('is no route of the other plane', () => {
    expect(readFailure(() => findRoute('runtime', 'GET', '/projects', false)).code).toBe(
      'route_not_found',
    );
    expect(readFailure(() => findRoute('platform', 'GET', '/auth/me', false)).code).toBe(
      'route_not_found',
    );
  });

  it('names the methods that the path takes', () => {
    const failure = readFailure(() => findRoute('runtime', 'TRACE', '/db/notes/1', false));
    expect([failure.code, failure.headers]).toEqual([
      'method_not_allowed',
      { Allow: 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS' },
    ]);
  });

  it('has no empty segments', () => {
    for (const path of ['/', '/db/', '/db//1', '//auth/me', '/auth/me/']) {
      expect([path, readFailure(() => findRoute('runtime', 'GET', path, false)).code]).toEqual([
        path,
        'route_not_found',
      ]);
    }
  });

  it('is the one that the service takes it for, with the same parameters', async () => {
    const findRow = createRouteTable(
      routes.map((definition) => [
        definition.method,
        servicePath(definition, definition.path),
        definition.operationId,
      ]),
    );
    const service = await serveForTest((req, res) => {
      const { entry: operationId, params } = findRow(req.method as Method, req.url ?? '') ?? {};
      res.setHeader('Content-Type', 'application/json');
      res.end(JSON.stringify({ operationId, params }));
    });
    const segment = fc.oneof(
      fc.constantFrom(
        'db',
        'DB',
        'auth',
        'me',
        'ME',
        '_count',
        '_COUNT',
        '%5Fcount',
        'projects',
        'demo',
        'users',
        'keys',
        '.well-known',
        'jwks.json',
        '%2F',
        'a%2Fb',
        '%252F',
        '%2e%2e',
        '.%2E',
        '',
        ' ',
        '%20',
        '%C3%A9',
        'é',
        '%',
        ':id',
        '*',
        'a;b',
        'a+b',
        '~',
        '%7E',
        '(',
        '%00',
        '\\',
      ),
      fc.string({ maxLength: 8 }),
    );
    const address = fc
      .tuple(
        fc.constantFrom('/api/runtime/demo', '/api/platform'),
        fc.array(segment, { minLength: 1, maxLength: 5 }),
      )
      .map(
        ([base, segments]) =>
          `${base}/${segments.map((segment) => segment.replace(/[\s/?#]|[^\x21-\xff]/g, '')).join('/')}`,
      );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
        address,
        async (method, url) => {
          let path: ReturnType<typeof readPath>;
          let found: ReturnType<typeof findRoute>;
          try {
            path = readPath(url);
            if (!path) return;
            found = findRoute(path.plane, method, path.path, false);
          } catch (error) {
            expect(error).toBeInstanceOf(ApiError);
            return;
          }
          const { body } = await service.call(method, servicePath(found.definition, path.path));
          expect(body.operationId).toBe(found.definition.operationId);
          expect(body.params.projectId).toBe(found.targetProjectId);
        },
      ),
      { numRuns: 1500 },
    );
    await service.stop();
  });
});
