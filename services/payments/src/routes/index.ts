import type { MountedRoute } from '@backlot/http';
import type { Checkouts } from '../checkout/checkouts.ts';
import type { Refunds } from '../checkout/refunds.ts';
import type { ReturnPages } from '../checkout/return-page.ts';
import type { OnPaidRules } from '../on-paid/rules.ts';
import type { PaymentList } from '../payments/payment-list.ts';
import type { ProductEditors } from '../products/product-editors.ts';
import type { Products } from '../products/products.ts';
import type { StripeKeyStore } from '../stripe/stripe-keys.ts';
import type { TestSessions } from '../test-checkout/sessions.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { showPaymentReturn, showTestCheckout, submitTestCheckout } from './checkout-pages.ts';
import { createCheckout } from './create-checkout.ts';
import { deleteOnPaidRule, listOnPaidRules, setOnPaidRule } from './on-paid.ts';
import {
  listMyPayments,
  listPayments,
  receiveWebhook,
  refundPayment,
  verifyPayment,
} from './payments.ts';
import { deleteProduct, getProduct, listProducts, setProduct } from './products.ts';
import { deleteStripeSecret, getStripeSecret, setStripeSecret } from './stripe-secret.ts';

export interface Features {
  paymentList: PaymentList;
  products: Products;
  productEditors: ProductEditors;
  onPaidRules: OnPaidRules;
  checkouts: Checkouts;
  refunds: Refunds;
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
  listMyPayments(features.paymentList),
  listPayments(features.paymentList),
  refundPayment(features.refunds),
  setStripeSecret(features.stripeKeys),
  getStripeSecret(features.stripeKeys),
  deleteStripeSecret(features.stripeKeys),
  listProducts(features.products, features.productEditors),
  getProduct(features.products, features.productEditors),
  setProduct(features.products, features.productEditors),
  deleteProduct(features.products, features.productEditors),
  setOnPaidRule(features.onPaidRules),
  listOnPaidRules(features.onPaidRules),
  deleteOnPaidRule(features.onPaidRules),
];
