import { ApiError, operatorRoutes } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import type { Findings } from '../findings/findings.ts';
import type { Owners } from '../owners.ts';

/** What looks like abuse over all projects, and what the operator does about it. */
export const routesForFindings = (
  findings: Findings,
  owners: Pick<Owners, 'find'>,
): MountedRoute[] => [
  route(operatorRoutes.listFindings, async ({ query }) => ({ body: await findings.list(query) })),
  route(
    operatorRoutes.tellFinding,
    async ({ params: { findingId } }) => {
      const ownerId = await findings.findOwner(findingId);
      const owner = ownerId === null ? null : await owners.find(ownerId);
      if (owner?.email == null)
        throw new ApiError('conflict', 'This project has no owner who could be told.');
      return { transact: async () => ({ body: await findings.tell(findingId) }) };
    },
    { isSlow: true },
  ),
  route(operatorRoutes.dismissFinding, async ({ params, body }) => ({
    body: await findings.dismiss(params.findingId, body.days),
  })),
  route(operatorRoutes.reopenFinding, async ({ params }) => ({
    body: await findings.reopen(params.findingId),
  })),
];
