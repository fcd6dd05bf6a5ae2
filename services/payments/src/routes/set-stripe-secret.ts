import { paymentRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { projectNumberOf } from '../project-number.ts';
import type { StripeAccounts } from '../stripe-accounts.ts';

export const setStripeSecret = (accounts: StripeAccounts) =>
  route(paymentRoutes.setStripeSecret, async ({ identity, params, body }) => ({
    body: await accounts.set(projectNumberOf(identity, params.projectId), body),
  }));
