import type { Stripe } from 'stripe';
import { landingUrl } from '../return-url.ts';
import type { Order } from './checkout.ts';

/** Stripe puts the session's id here; it knows the braces only as they are. */
const sessionIdTemplate = '{CHECKOUT_SESSION_ID}';

/** What every object at Stripe that belongs to a payment says about it. */
export const namesOf = ({ paymentId, project, userId }: Order): Record<string, string> => ({
  backlot_project: project.id,
  backlot_payment: paymentId,
  ...(userId === null ? {} : { backlot_user: userId }),
});

/** The same for the same order, so that Stripe's idempotency finds two questions equal. */
export const sessionParams = (order: Order): Stripe.Checkout.SessionCreateParams => {
  const names = namesOf(order);
  return {
    mode: 'payment',
    client_reference_id: order.paymentId,
    metadata: { ...order.metadata, ...names },
    // Handed on to the charge, whose refund names no session.
    payment_intent_data: { metadata: names },
    line_items: order.items.map(({ name, amount, quantity }) => ({
      quantity,
      price_data: {
        currency: order.currency,
        unit_amount: amount,
        product_data: { name },
      },
    })),
    success_url: landingUrl(order.returnUrl, sessionIdTemplate, 'done'),
    // Stripe documents the template for success_url alone; verify knows the payment by its own id too.
    cancel_url: landingUrl(order.returnUrl, order.paymentId, 'canceled'),
    expires_at: Math.floor(order.expiresAt.getTime() / 1000),
  };
};
