import { paymentRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { StripeKeyStore } from '../stripe/stripe-keys.ts';

export const setStripeSecret = (stripeKeys: StripeKeyStore) =>
  route(paymentRoutes.setStripeSecret, async ({ identity, body }) => {
    const { secretKey, webhookSecret } = body;
    const { project } = identity;
    if (secretKey === undefined)
      return { body: await stripeKeys.chooseTestCheckout(project.number) };
    return { body: await stripeKeys.set(project, { secretKey, webhookSecret }) };
  });

export const getStripeSecret = (stripeKeys: StripeKeyStore) =>
  route(paymentRoutes.getStripeSecret, async ({ identity }) => ({
    body: await stripeKeys.get(identity.project.number),
  }));

export const deleteStripeSecret = (stripeKeys: StripeKeyStore) =>
  route(paymentRoutes.deleteStripeSecret, async ({ identity }) => {
    await stripeKeys.remove(identity.project.number);
    return { body: { ok: true as const } };
  });
