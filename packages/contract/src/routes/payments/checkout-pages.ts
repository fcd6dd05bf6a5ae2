import { z } from 'zod';
import { callers, defineRoute, indifferent, KIB } from '../../define-route.ts';
import { idInPath } from '../../schemas.ts';

const runtime = { service: 'payments', plane: 'runtime', callers } as const;

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
  memberRole: 'editor',
  method: 'POST',
  summary: 'Pay, let fail or cancel on the page of the test checkout; leads back to returnUrl',
  limit: 'payments',
  takes: 'form',
  body: z.object({ action: z.enum(['pay', 'fail', 'cancel']) }),
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
