import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, ok, timestamp } from '../../schemas.ts';

const platform = {
  service: 'payments',
  plane: 'platform',
  callers: ['owner', 'operator'],
} as const;

const oneProject = z.object({ projectId: idInPath });

const stripeSecret = z
  .object({
    name: z.literal('stripe'),
    hint: z.string().describe('The end of the secret key'),
    mode: z.enum(['test', 'live']),
    updatedAt: timestamp,
  })
  .meta({ id: 'StripeSecret' });

const testCheckoutChoice = z.object({ name: z.literal('stripe'), testCheckout: z.literal(true) });

const withoutKeys = z.object({
  name: z.literal('stripe'),
  testCheckout: z
    .boolean()
    .describe('Whether payers come to the test checkout, where no money moves; else it is closed'),
});

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
  memberRole: 'owner',
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
    'forbidden',
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
  memberRole: 'admin',
  method: 'GET',
  path: secretPath,
  summary:
    'How payers pay: by keys of the project’s own, which are not shown, on the test checkout, or not at all',
  limit: 'read',
  params: oneProject,
  response: z.union([stripeSecret, withoutKeys]),
  status: 200,
  errors: [],
});

export const deleteStripeSecret = defineRoute({
  ...platform,
  operationId: 'deleteStripeSecret',
  memberRole: 'owner',
  method: 'DELETE',
  path: secretPath,
  summary: 'Forget the keys; checkout is closed until others, or the test checkout, are set',
  limit: 'write',
  params: oneProject,
  response: ok,
  status: 200,
  errors: ['not_found'],
});
