import { ApiError, suspensionRoutes } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Owners } from '../owners.ts';
import type { Suspensions } from '../suspensions/suspensions.ts';

/** Null: of all owners. @throws ApiError forbidden where an owner asks for another's */
const chooseOwner = ({ caller, userId }: Identity, wanted: string | undefined) => {
  if (caller === 'operator') return wanted?.toLowerCase() ?? null;
  if (userId === null) throw new ApiError('unauthenticated', 'Sign in as an owner first.');
  if (wanted === undefined || wanted.toLowerCase() === userId) return userId;
  throw new ApiError('forbidden', 'You can only see what is suspended of your own.');
};

/** What the operator suspends and lifts. */
export const routesForSuspensions = (
  suspensions: Suspensions,
  owners: Pick<Owners, 'check'>,
): MountedRoute[] => [
  route(
    suspensionRoutes.suspendOwner,
    async ({ params, body: { capability, reason } }) => {
      const ownerId = params.ownerId.toLowerCase();
      await owners.check(ownerId);
      return {
        transact: async () => ({
          body: { suspensions: await suspensions.suspend({ ownerId }, capability, reason) },
        }),
      };
    },
    { isSlow: true },
  ),
  route(suspensionRoutes.liftOwner, async ({ params, body: { capability } }) => ({
    body: {
      suspensions: await suspensions.lift({ ownerId: params.ownerId.toLowerCase() }, capability),
    },
  })),
  route(suspensionRoutes.suspendProject, async ({ identity, body: { capability, reason } }) => {
    const { number: projectNumber } = identity.project;
    return {
      body: { suspensions: await suspensions.suspend({ projectNumber }, capability, reason) },
    };
  }),
  route(suspensionRoutes.liftProject, async ({ identity, body: { capability } }) => ({
    body: {
      suspensions: await suspensions.lift({ projectNumber: identity.project.number }, capability),
    },
  })),
  route(suspensionRoutes.listSuspensions, async ({ identity, query: { ownerId, ...page } }) => ({
    body: await suspensions.list(chooseOwner(identity, ownerId), page),
  })),
];
