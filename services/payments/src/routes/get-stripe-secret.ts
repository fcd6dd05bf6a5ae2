import { paymentRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { projectNumberOf } from '../project-number.ts';
import type { StripeAccounts } from '../stripe-accounts.ts';

export const getStripeSecret = (accounts: StripeAccounts) =>
  route(paymentRoutes.getStripeSecret, async ({ identity, params }) => ({
    body: await accounts.get(projectNumberOf(identity, params.projectId)),
  }));
