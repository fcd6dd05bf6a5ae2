import { paymentRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Checkouts } from '../checkouts.ts';
import { presentPayment } from '../payments.ts';

export const verifyPayment = (checkouts: Checkouts) =>
  route(paymentRoutes.verifyPayment, async ({ identity, query }) => {
    const row = await checkouts.verify(identity.project.number, query.session_id);
    return { body: { paid: row.status === 'paid', payment: presentPayment(row) } };
  });
