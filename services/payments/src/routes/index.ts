import type { MountedRoute } from '@backlot/http';
import type { Checkouts } from '../checkouts.ts';
import type { TestSessions } from '../hosted-sessions.ts';
import type { Payments } from '../payments.ts';
import type { StripeAccounts } from '../stripe-accounts.ts';
import type { Webhooks } from '../webhooks.ts';
import { createCheckout } from './create-checkout.ts';
import { deleteStripeSecret } from './delete-stripe-secret.ts';
import { getStripeSecret } from './get-stripe-secret.ts';
import { listPayments } from './list-payments.ts';
import { receiveWebhook } from './receive-webhook.ts';
import { refundPayment } from './refund-payment.ts';
import { setStripeSecret } from './set-stripe-secret.ts';
import { showTestCheckout } from './show-test-checkout.ts';
import { submitTestCheckout } from './submit-test-checkout.ts';
import { verifyPayment } from './verify-payment.ts';

export interface Nouns {
  payments: Payments;
  checkouts: Checkouts;
  testSessions: TestSessions;
  webhooks: Webhooks;
  accounts: StripeAccounts;
}

export const routesOf = (nouns: Nouns): MountedRoute[] => [
  createCheckout(nouns.checkouts),
  verifyPayment(nouns.checkouts),
  receiveWebhook(nouns.webhooks),
  showTestCheckout(nouns.testSessions),
  submitTestCheckout(nouns.testSessions),
  listPayments(nouns.payments),
  refundPayment(nouns.checkouts),
  setStripeSecret(nouns.accounts),
  getStripeSecret(nouns.accounts),
  deleteStripeSecret(nouns.accounts),
];
