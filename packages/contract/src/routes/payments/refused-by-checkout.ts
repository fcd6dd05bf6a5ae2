const onePayment =
  'A checkout is paid once, and nothing is charged again by itself: start another one for each period.';
const noDiscounts =
  'There are no discounts: a product at the lower amount (PUT /products/<id>) is one, or an item with an amount of its own.';
const noTaxes =
  'Nothing is added to the items: send taxes, shipping and fees as items of their own.';
const byReturnUrl =
  'The payer comes back to "returnUrl", with session_id, and canceled=1 after cancelling.';
const chargedAtOnce = 'Money is taken at once. To give it back: POST .../payments/<id>/refund.';
const onePayee = 'All of it goes to the account of the project.';
const byStripe = 'Which methods are offered is set in the account at Stripe.';
const endsByItself = 'A session ends after 23 hours.';
/** What checkouts elsewhere know, and what would be paid otherwise than it was meant here. */
export const refusedByCheckout = {
  ...{ recurring: onePayment, interval: onePayment, subscription: onePayment, plan: onePayment },
  ...{ subscriptionData: onePayment, trial: onePayment, trialDays: onePayment },
  ...{ trialPeriodDays: onePayment, installments: onePayment, billingCycle: onePayment },
  ...{ discount: noDiscounts, discounts: noDiscounts, coupon: noDiscounts, coupons: noDiscounts },
  ...{ couponCode: noDiscounts, promotionCode: noDiscounts, promotionCodes: noDiscounts },
  ...{ promoCode: noDiscounts, allowPromotionCodes: noDiscounts, percentOff: noDiscounts },
  ...{ amountOff: noDiscounts, voucher: noDiscounts, giftCard: noDiscounts },
  ...{ tax: noTaxes, taxes: noTaxes, taxRate: noTaxes, taxRates: noTaxes, automaticTax: noTaxes },
  ...{ vat: noTaxes, shipping: noTaxes, shippingOptions: noTaxes, shippingCost: noTaxes },
  ...{ shippingRate: noTaxes, shippingAddressCollection: noTaxes, fee: noTaxes, fees: noTaxes },
  ...{ tip: noTaxes, surcharge: noTaxes },
  ...{ successUrl: byReturnUrl, cancelUrl: byReturnUrl, cancelledUrl: byReturnUrl },
  ...{ failureUrl: byReturnUrl, redirectUrl: byReturnUrl, notifyUrl: byReturnUrl },
  ...{ capture: chargedAtOnce, captureMethod: chargedAtOnce, manualCapture: chargedAtOnce },
  ...{ authorizeOnly: chargedAtOnce, deposit: chargedAtOnce, setupFutureUsage: chargedAtOnce },
  ...{ savePaymentMethod: chargedAtOnce, saveCard: chargedAtOnce },
  ...{ transferData: onePayee, applicationFeeAmount: onePayee, destination: onePayee },
  ...{ onBehalfOf: onePayee, splits: onePayee, payee: onePayee },
  ...{ paymentMethodTypes: byStripe, paymentMethods: byStripe, paymentMethod: byStripe },
  ...{ expiresAt: endsByItself, expiresIn: endsByItself, expiry: endsByItself, ttl: endsByItself },
  ...{ amount: 'An amount is that of an item: "items": [{"name": "Mug", "amount": 1999}].' },
  ...{ qty: 'How many is said by "quantity".', count: 'How many is said by "quantity".' },
  ...{ price: 'An item has an "amount" in the smallest unit, or names a "product".' },
  ...{ lineItems: 'What is paid stands in "items".' },
} as const;
