import { callers, type RouteDefinition, routes, serviceNames } from '@backlot/contract';
import {
  gatewayName,
  identityHeader,
  identityTtlMs,
  signIdentity,
  signingKey,
} from '@backlot/identity';
import { expect, it } from '@jest/globals';
import { anonymous, asUser, signed, testIdentityKeys, testProject } from './identities.ts';
import { refusesRoles } from './refuses-roles.ts';
import type { ServiceUnderTest } from './service-under-test.ts';

export interface ValidRequest {
  /** The route's path with its parameters filled in, query included. */
  path: string;
  body?: unknown;
}

const anotherProject = { ...testProject, id: 'another-project', number: 9999 };

/**
 * The tests every route has: no identity, a forged, an outdated one, each caller that the contract does not
 * list, and members whose role does not reach so far are refused, although the request itself is valid.
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
    const { service: receiver, operationId } = route;
    const sign = (process: string, root?: string) => {
      const key = signingKey(testIdentityKeys(process, root), receiver);
      return signIdentity(identity, operationId, key, Date.now());
    };
    const forged = sign(gatewayName, 'another root');
    const other = serviceNames.filter((name) => name !== receiver);
    const bySomeService = other.map((name) => sign(name));
    const forAnotherService = other.map((service) => signed(identity, { service, operationId }));
    const anotherRoute = routes.find(
      (candidate) => candidate.service === receiver && candidate !== route,
    );
    const forAnotherRoute = anotherRoute ? [signed(identity, anotherRoute)] : [];
    // By more than a test's own clock may stand behind.
    const expiredAt = Date.now() - 60 * 60_000;
    const outdated = signed(identity, route, expiredAt - identityTtlMs);
    const altered = signed(identity, route).replace(/^\d+/, (expiry) =>
      String(Number(expiry) + 1000),
    );
    for (const header of [
      undefined,
      '',
      'x.y.z',
      forged,
      outdated,
      altered,
      ...bySomeService,
      ...forAnotherService,
      ...forAnotherRoute,
    ]) {
      expect(await send(header)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    }
  });

  if (route.plane === 'platform' && route.path.includes(':projectId')) {
    it(`${route.operationId} knows no project but that of its caller`, async () => {
      const asStranger = { ...identity, caller: 'owner' as const };
      const elsewhere = { ...identity, caller: 'operator' as const, project: anotherProject };
      const asOtherKey = { ...elsewhere, caller: 'key' as const, userId: null };
      for (const include of [asStranger, asOtherKey, elsewhere].filter(({ caller }) =>
        route.callers.includes(caller),
      )) {
        expect(await send(signed(include, route))).toMatchObject({
          status: 404,
          body: { code: 'project_not_found' },
        });
      }
    });
  }

  refusesRoles(route, service, request);

  const refused = callers.filter((caller) => !route.callers.includes(caller));
  if (refused.length === 0) return;
  it(`${route.operationId} refuses ${refused.join(', ')}`, async () => {
    for (const caller of refused) {
      const answer = await send(
        signed(caller === 'anonymous' ? anonymous() : { ...identity, caller }, route),
      );
      expect(answer).toMatchObject(
        caller === 'anonymous'
          ? { status: 401, body: { code: 'unauthenticated' } }
          : { status: 403, body: { code: 'forbidden' } },
      );
    }
  });
};
