import { paymentRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Checkouts } from '../checkout/checkouts.ts';
import type { Refunds } from '../checkout/refunds.ts';
import { maySeePayment } from '../payments/payer.ts';
import type { PaymentList } from '../payments/payment-list.ts';
import { presentPayment } from '../payments/payment-row.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

export const verifyPayment = (checkouts: Checkouts) =>
  route(paymentRoutes.verifyPayment, async ({ identity, query }) => {
    const row = await checkouts.verify(identity, query.session_id);
    const paid = row.status === 'paid';
    const mayBeSeen = maySeePayment(identity, row, query.session_id);
    return { body: mayBeSeen ? { paid, payment: presentPayment(row) } : { paid } };
  });

export const receiveWebhook = (webhooks: Webhooks) =>
  route(paymentRoutes.receiveWebhook, async ({ identity, rawBody, header }) => {
    await webhooks.receive(identity, rawBody.text, header('stripe-signature'));
    return { body: { received: true as const } };
  });

export const listPayments = (payments: PaymentList) =>
  route(paymentRoutes.listPayments, async ({ identity, query: { user = null, ...query } }) => ({
    body: await payments.read(identity.project.number, query, user),
  }));

export const listMyPayments = (payments: PaymentList) =>
  route(paymentRoutes.listMyPayments, async ({ identity, query }) => {
    const { project, caller, userId } = identity;
    return { body: await payments.read(project.number, query, caller === 'user' ? userId : null) };
  });

export const refundPayment = (refunds: Refunds) =>
  route(
    paymentRoutes.refundPayment,
    async ({ identity, params, body, header }) => {
      const wish = { ...body, key: header('idempotency-key') };
      const row = await refunds.refund(identity.project.number, params.paymentId, wish);
      return { body: presentPayment(row) };
    },
    { isSlow: true, notesItself: true },
  );
