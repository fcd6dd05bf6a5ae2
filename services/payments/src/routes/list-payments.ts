import { paymentRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Payments } from '../payments.ts';
import { projectNumberOf } from '../project-number.ts';

export const listPayments = (payments: Payments) =>
  route(paymentRoutes.listPayments, async ({ identity, params, query }) => ({
    body: await payments.list(projectNumberOf(identity, params.projectId), query),
  }));
