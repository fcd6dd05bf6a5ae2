import type { Stripe } from 'stripe';
import type { Order } from '../provider/provider.ts';
import { landingUrl } from '../provider/return-url.ts';

/** Stripe puts the session's id here; it knows the braces only as they are. */
const sessionIdTemplate = '{CHECKOUT_SESSION_ID}';

/** On every object at Stripe that belongs to a payment. */
const backlotMetadata = ({ paymentId, project, userId }: Order): Record<string, string> => ({
  backlot_project: project.id,
  backlot_payment: paymentId,
  ...(userId === null ? {} : { backlot_user: userId }),
});

/** The same for the same order, because Stripe's idempotency compares the parameters. */
export const sessionParams = (order: Order): Stripe.Checkout.SessionCreateParams => {
  const metadata = backlotMetadata(order);
  return {
    mode: 'payment',
    client_reference_id: order.paymentId,
    metadata: { ...order.metadata, ...metadata },
    // Copied to the charge: its refund event names no session.
    payment_intent_data: { metadata },
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
