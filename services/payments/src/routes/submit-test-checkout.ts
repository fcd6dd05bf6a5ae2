import { paymentRoutes } from '@backlot/contract';
import { pageRoute } from '@backlot/http';
import { testPage } from '../hosted-page.ts';
import type { TestSessions } from '../hosted-sessions.ts';

export const submitTestCheckout = (sessions: TestSessions) =>
  pageRoute(paymentRoutes.submitTestCheckout, async ({ identity, params, body }) => {
    const answer = await sessions[body.action](identity.project, params.sessionId);
    return 'redirect' in answer ? answer : { ...testPage(answer), status: 409 };
  });
