import { paymentRoutes } from '@backlot/contract';
import { pageRoute } from '@backlot/http';
import { testPage } from '../hosted-page.ts';
import type { TestSessions } from '../hosted-sessions.ts';

export const showTestCheckout = (sessions: TestSessions) =>
  pageRoute(paymentRoutes.showTestCheckout, async ({ identity, params }) =>
    testPage(await sessions.show(identity.project, params.sessionId)),
  );
