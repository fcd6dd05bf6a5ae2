import { z } from 'zod';
import { callers, defineRoute, forgiving } from '../../define-route.ts';
import type { PaidItem } from '../../prices/paid-items.ts';
import { recordUpTo, text, uuid } from '../../schemas.ts';
import { onPaidRuleName } from './on-paid.ts';
import { currencyCode, itemAmount, itemName, maxTotal, productId } from './products.ts';
import { refusedByCheckout } from './refused-by-checkout.ts';

export const maxItems = 50;

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

const onPaid = z.object({ rule: onPaidRuleName, recordId: uuid });

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
