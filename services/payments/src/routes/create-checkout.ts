import { paymentRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Checkouts } from '../checkout/checkouts.ts';

export const createCheckout = (checkouts: Checkouts) =>
  route(
    paymentRoutes.createCheckout,
    async ({ identity, body }) => {
      const { session, commit } = await checkouts.start(identity, body);
      return { body: { url: session.url, sessionId: session.sessionId }, commit };
    },
    { isSlow: true },
  );
