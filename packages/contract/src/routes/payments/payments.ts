import { z } from 'zod';
import { callers, defineRoute, forgiving, indifferent, KIB } from '../../define-route.ts';
import { type PaidItem, pricedItem, settledOutcomes } from '../../paid-items.ts';
import {
  idInPath,
  listOf,
  listQuery,
  ok,
  recordUpTo,
  text,
  timestamp,
  uuid,
} from '../../schemas.ts';
import { onPaidRuleName } from './on-paid.ts';
import { currencyCode, itemAmount, itemName, maxTotal, productId } from './products.ts';
import { refusedByCheckout } from './refused-by-checkout.ts';

const maxItems = 50;
const maxMetadataKeys = 20;

const item = z
  .object({
    product: productId
      .optional()
      .describe('A product of the project, in place of name and amount, which are then its own'),
    name: itemName.optional(),
    amount: itemAmount.optional(),
    quantity: z.int().min(1).max(999).default(1),
  })
  .superRefine((sent, context) => {
    const isProduct = sent.product !== undefined;
    const orProduct = 'or "product" names a product of the project';
    const needed = {
      name: `is needed, ${orProduct}`,
      amount: `is in cents: a whole number, such as 1999; ${orProduct}`,
    };
    for (const field of ['name', 'amount'] as const) {
      const message = isProduct
        ? 'can not stand beside "product", which has its own'
        : needed[field];
      if ((sent[field] !== undefined) === isProduct)
        context.addIssue({ code: 'custom', path: [field], message });
    }
  });
/** As it is asked for: a product, or a name and an amount. */
export type OrderedItem = z.output<typeof item>;

/** As it is paid. */
export type Item = PaidItem;

export const sumItems = (items: readonly { amount?: number | undefined; quantity: number }[]) =>
  items.reduce((sum, { amount = 0, quantity }) => sum + amount * quantity, 0);

export const isPayable = (total: number): boolean => total >= 1 && total <= maxTotal;
export const totalRule = `the total must be 1 to ${maxTotal}`;

const items = z
  .array(item)
  .min(1)
  .max(maxItems)
  .superRefine((list, context) => {
    const hasProducts = list.some(({ product }) => product !== undefined);
    if (hasProducts || isPayable(sumItems(list))) return;
    context.addIssue({ code: 'custom', message: totalRule });
  });

/** What Stripe takes: square brackets are its own. */
const metadataKey = text(1, 40).refine(
  (key) => !/[[\]]/.test(key),
  'keys may not contain square brackets',
);
const metadata = recordUpTo(
  maxMetadataKeys,
  z.record(
    metadataKey,
    z.union([text(0, 500), z.number().transform(String), z.boolean().transform(String)]),
  ),
);

/** Where the payer goes afterwards; whether the project allows its origin is the service's question. */
const returnUrl = text(1, 2048)
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), {
    message: 'must be an absolute http(s) address',
    abort: true,
  })
  .refine((value) => new URL(value).username === '' && new URL(value).password === '', {
    message: 'may not contain credentials',
  });

export const paymentStatuses = [
  ...(['open', 'paid', 'failed', 'expired'] as const),
  ...(['refunding', 'refunded'] as const),
] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

/** What became of the record that a payment was for. */
const recordOutcomes = ['unpaid', 'pending', ...settledOutcomes] as const;
export type RecordOutcome = (typeof recordOutcomes)[number];

const onPaid = z.object({ rule: onPaidRuleName, recordId: uuid });

/** Newest first unless said otherwise. */
const paymentListQuery = listQuery.extend({
  status: z.enum(paymentStatuses).optional(),
  sort: z.enum(['-createdAt', 'createdAt']).default('-createdAt'),
});

const payment = z
  .object({
    id: uuid,
    sessionId: z.string(),
    status: z.enum(paymentStatuses),
    livemode: z.boolean().describe('Whether real money moves; false for the test checkout'),
    amount: z.int().describe('Total, in the smallest unit'),
    currency: z.string().describe('ISO 4217, lower case'),
    items: z.array(pricedItem),
    metadata: z.record(z.string(), z.string()),
    refundedAmount: z.int().describe('What went back, of the amount'),
    refunds: z
      .array(
        z.object({
          id: uuid,
          amount: z.int(),
          status: z.enum(['pending', 'done']),
          createdAt: timestamp,
        }),
      )
      .describe('What the owner gave back, or gives back: it is tried until the provider answers'),
    refundReason: z
      .enum(['out_of_stock'])
      .nullable()
      .describe('Why it was given back by itself: what was paid for had been sold meanwhile'),
    onPaid: z
      .object({ rule: z.string(), recordId: uuid, outcome: z.enum(recordOutcomes) })
      .nullable()
      .describe('The record that it is for, and whether that has been changed'),
    closedReason: z
      .enum(['mode_changed'])
      .nullable()
      .describe('Why it can not be paid: the project takes payments with other keys since'),
    latePaidAt: timestamp
      .nullable()
      .describe(
        'When money came for a session of another mode than the project’s: it paid nothing',
      ),
    createdAt: timestamp,
    paidAt: timestamp.nullable(),
  })
  .meta({ id: 'Payment' });
export type Payment = z.infer<typeof payment>;

const runtime = { service: 'payments', plane: 'runtime', callers } as const;

export const createCheckout = defineRoute({
  ...runtime,
  ...forgiving,
  operationId: 'createCheckout',
  method: 'POST',
  path: '/payments/checkout',
  summary: 'Start a hosted payment session; send the payer to its url',
  limit: 'payments',
  body: z.object({
    items,
    currency: currencyCode.optional().describe('That of the products, else usd'),
    returnUrl,
    metadata: metadata.default({}),
    mode: z
      .literal('payment', {
        error: 'is "payment": a checkout is paid once, and nothing is charged again by itself',
      })
      .optional(),
    onPaid: onPaid
      .optional()
      .describe('The record that the payment changes, once, as a rule of the owner says'),
  }),
  refuses: refusedByCheckout,
  response: z.object({ url: z.string(), sessionId: z.string() }),
  status: 200,
  errors: [
    'invalid_body',
    'owner_unverified',
    'checkout_closed',
    'out_of_stock',
    'too_many_attempts',
    'upstream_failed',
    'timeout',
  ],
});

export const listMyPayments = defineRoute({
  ...runtime,
  callers: ['user', 'owner', 'key', 'operator'],
  operationId: 'listMyPayments',
  method: 'GET',
  path: '/payments',
  summary: 'One’s own payments, newest first; owner and keys see all',
  limit: 'read',
  query: paymentListQuery,
  response: listOf(payment),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor'],
});

export const verifyPayment = defineRoute({
  ...runtime,
  ...forgiving,
  operationId: 'verifyPayment',
  method: 'GET',
  path: '/payments/verify',
  summary: 'Whether a session was paid; an open one is checked with the provider',
  limit: 'read',
  query: z.object({ session_id: z.string().min(1).max(255) }),
  response: z.object({
    paid: z.boolean(),
    payment: payment
      .optional()
      .describe('For the payer, the owner and keys: others learn whether it was paid, and no more'),
  }),
  status: 200,
  errors: ['invalid_query', 'not_found'],
});

export const receiveWebhook = defineRoute({
  ...runtime,
  ...indifferent,
  operationId: 'receiveWebhook',
  method: 'POST',
  path: '/payments/webhook',
  summary: 'For the payment provider: signed news of sessions',
  limit: 'write',
  ignoresCredentials: true,
  body: z.unknown(),
  response: z.object({ received: z.literal(true) }),
  status: 200,
  errors: ['invalid_signature'],
});

const page = {
  ...runtime,
  ...indifferent,
  path: '/payments/test-checkout/:sessionId',
  ignoresCredentials: true,
  answers: 'html',
  params: z.object({ sessionId: idInPath }),
  response: z.string(),
  status: 200,
} as const;

export const showTestCheckout = defineRoute({
  ...page,
  operationId: 'showTestCheckout',
  method: 'GET',
  summary: 'The page of the test checkout, for the payer; no money moves',
  limit: 'read',
  errors: ['not_found'],
});

export const submitTestCheckout = defineRoute({
  ...page,
  operationId: 'submitTestCheckout',
  method: 'POST',
  summary: 'Pay or cancel on the page of the test checkout; leads back to returnUrl',
  limit: 'payments',
  takes: 'form',
  body: z.object({ action: z.enum(['pay', 'cancel']) }),
  bodyLimitBytes: 4 * KIB,
  errors: ['invalid_body', 'not_found', 'conflict', 'checkout_closed'],
});

export const showPaymentReturn = defineRoute({
  ...runtime,
  ...indifferent,
  operationId: 'showPaymentReturn',
  method: 'GET',
  path: '/payments/return/:paymentId',
  summary: 'Names a returnUrl whose origin is not verified, before the payer goes on to it',
  limit: 'read',
  ignoresCredentials: true,
  answers: 'html',
  params: z.object({ paymentId: idInPath }),
  query: z.object({ canceled: z.string().optional() }),
  response: z.string(),
  status: 200,
  errors: ['not_found'],
});

const platform = {
  service: 'payments',
  plane: 'platform',
  callers: ['owner', 'operator'],
} as const;
const oneProject = z.object({ projectId: idInPath });

export const listPayments = defineRoute({
  ...platform,
  operationId: 'listPayments',
  method: 'GET',
  path: '/projects/:projectId/payments',
  summary: 'Payments of a project, newest first',
  limit: 'read',
  params: oneProject,
  query: paymentListQuery,
  response: listOf(payment),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'not_found'],
});

export const refundPayment = defineRoute({
  ...platform,
  operationId: 'refundPayment',
  method: 'POST',
  path: '/projects/:projectId/payments/:paymentId/refund',
  summary: 'Give a payment back, all of it or an amount; a refunded one is answered as it is',
  limit: 'write',
  params: z.object({ projectId: idInPath, paymentId: idInPath }),
  body: z
    .strictObject({
      amount: z
        .int()
        .min(1)
        .max(maxTotal)
        .optional()
        .describe('In the smallest unit; all that is left without it'),
      restock: z
        .array(z.strictObject({ product: productId, quantity: z.int().min(1).max(999) }))
        .max(maxItems)
        .optional()
        .describe('What goes back into the stock, of what was bought; nothing without it'),
    })
    .prefault({}),
  response: payment,
  status: 200,
  errors: [
    ...(['invalid_body', 'not_found', 'not_refundable', 'conflict'] as const),
    ...(['upstream_failed', 'timeout'] as const),
  ],
});

const stripeSecret = z
  .object({
    name: z.literal('stripe'),
    hint: z.string().describe('The end of the secret key'),
    mode: z.enum(['test', 'live']),
    updatedAt: timestamp,
  })
  .meta({ id: 'StripeSecret' });
const testCheckoutChoice = z.object({ name: z.literal('stripe'), testCheckout: z.literal(true) });
const stripeChoice = z
  .strictObject({
    secretKey: z
      .string()
      .max(255)
      .regex(/^[rs]k_(test|live)_[A-Za-z0-9_]{4,}$/, 'must be a secret or restricted key')
      .optional(),
    webhookSecret: z
      .string()
      .max(255)
      .regex(/^whsec_[A-Za-z0-9+/=_-]{1,}$/, 'must be the signing secret of a webhook endpoint')
      .optional()
      .describe('Left out: the one that is set stays'),
    testCheckout: z
      .literal(true)
      .optional()
      .describe('Instead of keys: a project whose keys were deleted uses the test checkout again'),
  })
  .superRefine(({ secretKey, webhookSecret, testCheckout }, context) => {
    if (testCheckout === undefined && secretKey === undefined)
      context.addIssue({ code: 'custom', path: ['secretKey'], message: 'is needed' });
    if (testCheckout && (secretKey ?? webhookSecret) !== undefined)
      context.addIssue({ code: 'custom', path: ['testCheckout'], message: 'stands alone' });
  });
const secretPath = '/projects/:projectId/secrets/stripe';

export const setStripeSecret = defineRoute({
  ...platform,
  operationId: 'setStripeSecret',
  method: 'PUT',
  path: secretPath,
  summary:
    'Keys of the project’s own Stripe account, never shown again; a replaced webhookSecret is good for 24 hours more',
  limit: 'write',
  params: oneProject,
  body: stripeChoice,
  response: z.union([stripeSecret, testCheckoutChoice]),
  status: 200,
  errors: [
    'invalid_body',
    'invalid_secret',
    'owner_unverified',
    'not_found',
    'conflict',
    'checkout_closed',
    'upstream_failed',
    'timeout',
  ],
});

export const getStripeSecret = defineRoute({
  ...platform,
  operationId: 'getStripeSecret',
  method: 'GET',
  path: secretPath,
  summary: 'Whether the project has keys of its own, without the keys',
  limit: 'read',
  params: oneProject,
  response: stripeSecret,
  status: 200,
  errors: ['not_found'],
});

export const deleteStripeSecret = defineRoute({
  ...platform,
  operationId: 'deleteStripeSecret',
  method: 'DELETE',
  path: secretPath,
  summary: 'Forget the keys; checkout is closed until others, or the test checkout, are set',
  limit: 'write',
  params: oneProject,
  response: ok,
  status: 200,
  errors: ['not_found'],
});
