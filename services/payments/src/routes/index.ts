import type { MountedRoute } from '@backlot/http';
import type { Checkouts } from '../checkout/checkouts.ts';
import type { ReturnPages } from '../checkout/return-page.ts';
import type { Payments } from '../payments/payments.ts';
import type { StripeKeyStore } from '../stripe/stripe-keys.ts';
import type { Webhooks } from '../stripe/webhooks.ts';
import type { TestSessions } from '../test-checkout/sessions.ts';
import { showPaymentReturn, showTestCheckout, submitTestCheckout } from './checkout-pages.ts';
import {
  createCheckout,
  listPayments,
  receiveWebhook,
  refundPayment,
  verifyPayment,
} from './payments.ts';
import { deleteStripeSecret, getStripeSecret, setStripeSecret } from './stripe-secret.ts';

export interface Features {
  payments: Payments;
  checkouts: Checkouts;
  testSessions: TestSessions;
  returnPages: ReturnPages;
  webhooks: Webhooks;
  stripeKeys: StripeKeyStore;
}

export const createRoutes = (features: Features): MountedRoute[] => [
  createCheckout(features.checkouts),
  verifyPayment(features.checkouts),
  receiveWebhook(features.webhooks),
  showTestCheckout(features.testSessions),
  submitTestCheckout(features.testSessions),
  showPaymentReturn(features.returnPages),
  listPayments(features.payments),
  refundPayment(features.checkouts),
  setStripeSecret(features.stripeKeys),
  getStripeSecret(features.stripeKeys),
  deleteStripeSecret(features.stripeKeys),
];
