import { givenRoles, neededRole, type RouteDefinition, roleReaches } from '@backlot/contract';
import { identityHeader } from '@backlot/identity';
import { expect, it } from '@jest/globals';
import { asUser, signed, testProject } from './identities.ts';
import type { ServiceUnderTest } from './service-under-test.ts';

interface ValidRequest {
  path: string;
  body?: unknown;
}

const member = '018f0000-0000-7000-8000-00000000eeee';

/**
 * Part of `refusesStrangers`: members whose role does not reach so far are refused, although the request itself is
 * valid.
 */
export const refusesRoles = (
  route: RouteDefinition,
  service: () => ServiceUnderTest,
  request: () => ValidRequest,
): void => {
  const needed = neededRole(route);
  const refused = givenRoles.filter((role) => needed !== null && !roleReaches(role, needed));
  if (refused.length === 0) return;
  it(`${route.operationId} refuses members who are ${refused.join(' or ')}`, async () => {
    const { path, body } = request();
    for (const memberRole of refused) {
      const identity = asUser(member, { caller: 'owner', memberRole, project: testProject });
      const answer = await service().call(
        route.method,
        route.plane === 'platform' ? `/platform${path}` : path,
        {
          ...(route.body ? { body } : {}),
          headers: { [identityHeader]: signed(identity, route) },
        },
      );
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(String(answer.body.error)).toContain(`you are a`);
    }
  });
};
