import { paymentRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Checkouts } from '../checkouts.ts';
import { presentPayment } from '../payments.ts';
import { projectNumberOf } from '../project-number.ts';

export const refundPayment = (checkouts: Checkouts) =>
  route(
    paymentRoutes.refundPayment,
    async ({ identity, params }) => {
      const projectNumber = projectNumberOf(identity, params.projectId);
      return { body: presentPayment(await checkouts.refund(projectNumber, params.paymentId)) };
    },
    { isSlow: true },
  );
