import { paymentRoutes } from '@backlot/contract';
import { pageRoute } from '@backlot/http';
import type { ReturnPages } from '../checkout/return-page.ts';
import { renderTestCheckout } from '../test-checkout/page.ts';
import type { TestSessions } from '../test-checkout/sessions.ts';

export const showTestCheckout = (sessions: TestSessions) =>
  pageRoute(paymentRoutes.showTestCheckout, async ({ identity, params }) =>
    renderTestCheckout(await sessions.show(identity.project, params.sessionId)),
  );

export const submitTestCheckout = (sessions: TestSessions) =>
  pageRoute(paymentRoutes.submitTestCheckout, async ({ identity, params, body }) => {
    const answer = await sessions[body.action](identity, params.sessionId);
    return 'redirect' in answer ? answer : { ...renderTestCheckout(answer), status: 409 };
  });

export const showPaymentReturn = (pages: ReturnPages) =>
  pageRoute(paymentRoutes.showPaymentReturn, ({ identity, params, query }) =>
    pages.show(identity.project, params.paymentId, query.canceled === '1' ? 'canceled' : 'done'),
  );
