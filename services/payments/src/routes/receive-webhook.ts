import { paymentRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Webhooks } from '../webhooks.ts';

export const receiveWebhook = (webhooks: Webhooks) =>
  route(paymentRoutes.receiveWebhook, async ({ identity, sent, header }) => {
    await webhooks.receive(identity.project.number, sent.text, header('stripe-signature'));
    return { body: { received: true as const } };
  });
