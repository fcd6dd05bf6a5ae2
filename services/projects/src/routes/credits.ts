import { ApiError, creditRoutes, type PriceChanges, priceList } from '@backlot/contract';
import { type MountedRoute, noteAct, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Credits } from '../ledger/credits.ts';
import type { UsageReports } from '../ledger/usage-report.ts';
import { toScope } from '../projects/scope.ts';

/** Whose credits are shown: the operator names the owner, an owner sees their own. */
const chooseOwner = ({ caller, userId }: Identity, requested: string | undefined): string => {
  if (caller === 'operator') {
    if (requested === undefined)
      throw new ApiError('invalid_query', '"ownerId": say whose credits you ask for');
    return requested.toLowerCase();
  }
  if (userId === null) throw new ApiError('unauthenticated', 'Sign in as an owner first.');
  if (requested !== undefined && requested.toLowerCase() !== userId)
    throw new ApiError('forbidden', 'You can only see your own credits.');
  return userId;
};

/** Credits, what they were used for, and prices. */
export const routesForCredits = (
  credits: Credits,
  usageReports: UsageReports,
  priceChanges: PriceChanges,
): MountedRoute[] => [
  route(creditRoutes.getCredits, async ({ query: { ownerId, ...page }, identity }) => {
    const owner = chooseOwner(identity, ownerId);
    return { body: await credits.history(owner, identity.caller === 'owner', page) };
  }),
  route(
    creditRoutes.createGrant,
    async ({ body }) => {
      const grant = await credits.prepareGrant(body);
      return { transact: async () => ({ body: await grant() }) };
    },
    { isSlow: true },
  ),
  route(creditRoutes.reverseGrant, async ({ params: { grantId }, body: { reason } }) => {
    const body = await credits.reverse({ grantId, reason });
    await noteAct({ ownerId: body.ownerId });
    return { body };
  }),
  route(creditRoutes.getUsage, async ({ query, identity }) => ({
    body: await usageReports.create(toScope(identity), query),
  })),
  route(creditRoutes.listTopSpenders, async ({ query: { by, days } }) => ({
    body: { items: await credits.topSpenders(by, days), hasMore: false, nextCursor: null },
  })),
  route(creditRoutes.getReconciliation, async () => ({ body: await credits.lastReconciliation() })),
  route(creditRoutes.listPrices, async () => ({
    body: { items: priceList(priceChanges), hasMore: false, nextCursor: null },
  })),
];
