import { z } from 'zod';
import { callers, defineRoute, forgiving, indifferent } from '../../define-route.ts';
import { pricedItem, settledOutcomes } from '../../prices/paid-items.ts';
import { idInPath, listOf, listQuery, timestamp, uuid } from '../../schemas.ts';
import { maxItems } from './create-checkout.ts';
import { maxTotal, productId } from './products.ts';

const paymentStatuses = ['open', 'paid', 'failed', 'expired', 'refunding', 'refunded'] as const;

export type PaymentStatus = (typeof paymentStatuses)[number];

/** What became of the record that a payment was for. */
const recordOutcomes = ['unpaid', 'pending', ...settledOutcomes] as const;

export type RecordOutcome = (typeof recordOutcomes)[number];

/** Newest first unless said otherwise. */
const paymentListQuery = listQuery.extend({
  status: z.enum(paymentStatuses).optional(),
  sort: z.enum(['-createdAt', 'createdAt']).default('-createdAt'),
});

export const payment = z
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
  query: paymentListQuery.extend({ user: uuid.optional().describe('Who paid') }),
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
  errors: ['invalid_body', 'not_found', 'not_refundable', 'conflict', 'upstream_failed', 'timeout'],
});
