import { callers, type RouteDefinition } from '@backlot/contract';
import { identityHeader, identitySecret, identityTtlMs, signIdentity } from '@backlot/identity';
import { expect, it } from '@jest/globals';
import { anonymous, asUser, signed, testIdentitySecret, testProject } from './identities.ts';
import type { ServiceUnderTest } from './service-under-test.ts';

export interface ValidRequest {
  /** The route's path with its parameters filled in, query included. */
  path: string;
  body?: unknown;
}

const anotherProject = { ...testProject, id: 'another-project', number: 9999 };

/**
 * The tests every route has: no identity, a forged, an outdated one, and each caller that the
 * contract does not list are refused, although the request itself is valid.
 * @param request a request that would succeed
 */
export const refusesStrangers = (
  route: RouteDefinition,
  service: () => ServiceUnderTest,
  request: () => ValidRequest,
): void => {
  const path = () => (route.plane === 'platform' ? `/platform${request().path}` : request().path);
  const send = (header: string | undefined) =>
    service().call(route.method, path(), {
      ...(route.body ? { body: request().body } : {}),
      headers: header === undefined ? {} : { [identityHeader]: header },
    });
  const caller = route.callers[0] ?? 'anonymous';
  const identity = asUser('018f0000-0000-7000-8000-00000000dddd', { caller });

  it(`${route.operationId} answers only who the gateway vouches for`, async () => {
    const forged = signIdentity(identity, identitySecret('x'.repeat(32)), Date.now());
    // By more than a test's own clock may stand behind.
    const expiredAt = Date.now() - 60 * 60_000;
    const outdated = signIdentity(identity, testIdentitySecret, expiredAt - identityTtlMs);
    const altered = signed(identity).replace(/^\d+/, (expiry) => String(Number(expiry) + 1000));
    for (const header of [undefined, '', 'x.y.z', forged, outdated, altered]) {
      expect(await send(header)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    }
  });

  if (route.plane === 'platform' && route.path.includes(':projectId')) {
    it(`${route.operationId} knows no project but that of its caller`, async () => {
      const asStranger = { ...identity, caller: 'owner' as const };
      const elsewhere = { ...identity, caller: 'operator' as const, project: anotherProject };
      for (const include of [asStranger, elsewhere].filter(({ caller }) =>
        route.callers.includes(caller),
      )) {
        expect(await send(signed(include))).toMatchObject({
          status: 404,
          body: { code: 'project_not_found' },
        });
      }
    });
  }

  const refused = callers.filter((caller) => !route.callers.includes(caller));
  if (refused.length === 0) return;
  it(`${route.operationId} refuses ${refused.join(', ')}`, async () => {
    for (const each of refused) {
      const answer = await send(
        signed(each === 'anonymous' ? anonymous() : { ...identity, caller: each }),
      );
      expect(answer).toMatchObject(
        each === 'anonymous'
          ? { status: 401, body: { code: 'unauthenticated' } }
          : { status: 403, body: { code: 'forbidden' } },
      );
    }
  });
};
