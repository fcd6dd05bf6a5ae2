import { neededScope, type RouteDefinition, routes } from '@backlot/contract';
import type { Api, CallOptions } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

const someId = '018f0000-0000-7000-8000-000000000000';
const fillPath = (route: RouteDefinition, projectId: string) =>
  route.path
    .replace(':projectId', projectId)
    .replace(':collection', 'notes')
    .replace(/:[A-Za-z]+/g, someId);
const body = (route: RouteDefinition): CallOptions => (route.body ? { body: {} } : {});
const runtimeRoutes = routes.filter((route) => route.plane === 'runtime');
const platformRoutes = routes.filter(
  ({ plane, callers }) =>
    plane === 'platform' && !(callers as readonly string[]).includes('anonymous'),
);

describe.each(usualModes)('strangers at every route, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let victim: { id: string; api: Api; key: string };
  let elsewhere: { id: string; owner: { token: string }; key: string; userToken: string };
  beforeAll(async () => {
    platform = await platformUnderTest(mode, { BACKLOT_FAILED_LOOKUPS_PER_ADDRESS: '100000' });
    const own = await platform.newProject();
    const other = await platform.newProject();
    const keyOf = async ({ id, owner }: typeof own) => {
      const { body } = await platform.control('POST', `/projects/${id}/keys`, {
        token: owner.token,
        body: { name: 'k', scopes: ['read', 'write', 'admin'] },
      });
      return String(body.key);
    };
    victim = { ...own, key: await keyOf(own) };
    const key = await keyOf(other);
    const user = await platform.signUp(other.id);
    elsewhere = { id: other.id, owner: other.owner, key, userToken: user.token };
    await victim.api('POST', '/db/notes', { body: { data: { text: 'kept' } } });
  });
  afterAll(async () => {
    const { body: left } = await victim.api('GET', '/db/notes');
    expect(left.items).toMatchObject([{ text: 'kept' }]);
    await platform.stop();
  });

  it.each(runtimeRoutes.map((route) => [route.operationId, route] as const))(
    '%s opens to no credential of another project',
    async (_name, route) => {
      const path = fillPath(route, victim.id);
      const tokens = [
        elsewhere.userToken,
        elsewhere.key,
        elsewhere.owner.token,
        'made.up.token',
        'bk_madeup',
        'x'.repeat(9000),
      ];
      for (const token of route.ignoresCredentials ? [] : tokens) {
        const answer = await victim.api(route.method, path, { token, ...body(route) });
        expect([route.operationId, answer.status, answer.body.code]).toEqual([
          route.operationId,
          401,
          'invalid_token',
        ]);
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      }
      const unknown = await platform.runtime('nosuchproject')(route.method, path, body(route));
      expect(unknown).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
      if (!route.callers.includes('anonymous')) {
        const nobody = await victim.api(route.method, path, body(route));
        expect(nobody).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
      }
    },
  );

  it.each(platformRoutes.map((route) => [route.operationId, route] as const))(
    '%s opens to its project’s owner alone',
    async (_name, route) => {
      const path = fillPath(route, victim.id);
      expect(await platform.control(route.method, path, body(route))).toMatchObject({
        status: 401,
        body: { code: 'unauthenticated' },
      });
      for (const token of [elsewhere.userToken, elsewhere.key, 'made.up.token']) {
        expect(await platform.control(route.method, path, { token, ...body(route) })).toMatchObject(
          { status: 401, body: { code: 'invalid_token' } },
        );
      }
      if (neededScope(route) === null) {
        const ownKey = await platform.control(route.method, path, {
          token: victim.key,
          ...body(route),
        });
        expect(ownKey).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
      }
      if (!route.path.includes(':projectId')) return;
      const stranger = await platform.control(route.method, path, {
        token: elsewhere.owner.token,
        ...body(route),
      });
      expect(stranger).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
      const unknown = await platform.control(route.method, fillPath(route, 'nosuchproject'), {
        token: elsewhere.owner.token,
        ...body(route),
      });
      expect(unknown).toEqual({
        ...stranger,
        headers: unknown.headers,
        body: { ...stranger.body, requestId: unknown.body.requestId },
      });
    },
  );

  it('keeps records out of the built-in project', async () => {
    expect(await platform.runtime('platform')('GET', '/db/notes')).toMatchObject({
      status: 404,
      body: { code: 'route_not_found' },
    });
  });

  it('forwards no identity that a client made up', async () => {
    const answer = await victim.api('GET', '/auth/me', {
      headers: { 'X-Backlot-Identity': 'x.y.z', 'X-User-Id': someId },
    });
    expect(answer).toMatchObject({ status: 401 });
    for (const path of [
      '/internal/projects/demo',
      '/api/runtime/demo/internal/projects/demo',
      '/api/platform/internal/keys/x',
      '/platform/projects',
    ]) {
      expect(await platform.anywhere('GET', path)).toMatchObject({ status: 404 });
    }
  });
});
