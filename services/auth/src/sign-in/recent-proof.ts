import { ApiError } from '@backlot/contract';
import type { SignedIn } from '../users/user-reads.ts';

const minuteMs = 60_000;
const recentMs = 10 * minuteMs;
/** A provider's page has the caller for 10 minutes at most, and the code that it gives is good for one. */
export const recentBeforeTripMs = recentMs + 11 * minuteMs;

/**
 * Whoever has come by a session alone neither changes a way of signing in nor erases the account: it has begun, or shown a proof, a short
 * while ago. @throws ApiError reauthentication_needed
 */
export const requireRecentProof = (
  { provenMsAgo }: Pick<SignedIn, 'provenMsAgo'>,
  withinMs = recentMs,
): void => {
  if (provenMsAgo <= withinMs) return;
  throw new ApiError(
    'reauthentication_needed',
    'Show again that this account is yours: it is more than 10 minutes since you did.',
    {
      hint: 'POST /auth/reauthenticate {"password":"…"}, or {"code":"…"} of the authenticator app, then the same call again. Who has neither signs in again.',
    },
  );
};
