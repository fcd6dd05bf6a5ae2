import { ApiError, creditRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Credits } from '../ledger/credits.ts';

const ownerOf = ({ caller, userId }: Identity, asked: string | undefined): string => {
  if (caller === 'operator') {
    if (asked === undefined)
      throw new ApiError('invalid_query', '"ownerId": say whose credits you ask for');
    return asked.toLowerCase();
  }
  if (userId === null) throw new ApiError('unauthenticated', 'Sign in as an owner first.');
  if (asked !== undefined && asked.toLowerCase() !== userId)
    throw new ApiError('forbidden', 'You can only see your own credits.');
  return userId;
};

export const getCredits = (credits: Credits) =>
  route(creditRoutes.getCredits, async ({ query: { ownerId, ...page }, identity }) => {
    const owner = ownerOf(identity, ownerId);
    return { body: await credits.statementOf(owner, identity.caller === 'owner', page) };
  });
