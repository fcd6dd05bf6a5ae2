import { paymentRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Checkouts } from '../checkout/checkouts.ts';
import { presentPayment } from '../payments/payment-row.ts';
import type { Payments } from '../payments/payments.ts';
import type { Webhooks } from '../stripe/webhooks.ts';

export const createCheckout = (checkouts: Checkouts) =>
  route(
    paymentRoutes.createCheckout,
    async ({ identity, body }) => {
      const { session, commit } = await checkouts.start(identity, body);
      return { body: { url: session.url, sessionId: session.sessionId }, commit };
    },
    { isSlow: true },
  );

export const verifyPayment = (checkouts: Checkouts) =>
  route(paymentRoutes.verifyPayment, async ({ identity, query }) => {
    const row = await checkouts.verify(identity, query.session_id);
    return { body: { paid: row.status === 'paid', payment: presentPayment(row) } };
  });

export const receiveWebhook = (webhooks: Webhooks) =>
  route(paymentRoutes.receiveWebhook, async ({ identity, rawBody, header }) => {
    await webhooks.receive(identity.project.number, rawBody.text, header('stripe-signature'));
    return { body: { received: true as const } };
  });

export const listPayments = (payments: Payments) =>
  route(paymentRoutes.listPayments, async ({ identity, query }) => ({
    body: await payments.list(identity.project.number, query),
  }));

export const listMyPayments = (payments: Payments) =>
  route(paymentRoutes.listMyPayments, async ({ identity, query }) => {
    const { project, caller, userId } = identity;
    return { body: await payments.list(project.number, query, caller === 'user' ? userId : null) };
  });

export const refundPayment = (checkouts: Checkouts) =>
  route(
    paymentRoutes.refundPayment,
    async ({ identity, params }) => {
      const row = await checkouts.refund(identity.project.number, params.paymentId);
      return { body: presentPayment(row) };
    },
    { isSlow: true },
  );
