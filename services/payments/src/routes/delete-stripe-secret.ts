import { paymentRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { projectNumberOf } from '../project-number.ts';
import type { StripeAccounts } from '../stripe-accounts.ts';

export const deleteStripeSecret = (accounts: StripeAccounts) =>
  route(paymentRoutes.deleteStripeSecret, async ({ identity, params }) => {
    await accounts.remove(projectNumberOf(identity, params.projectId));
    return { body: { ok: true as const } };
  });
