import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { onPaidFields, pays } from '../../prices/paid-items.ts';
import { idInPath, listOf, ok, timestamp } from '../../schemas.ts';
import { collectionName } from '../records/schemas/record-schemas.ts';
import { currencyCode, maxTotal, productId } from './products.ts';

/** docs/api.md, "Paid records". */
export const maxOnPaidRules = 20;

export const onPaidRuleName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]{0,62}$/,
    'must be 1-63 of A-Z, a-z, 0-9, _ and -, starting with a letter',
  );

/** A payment for anything would pay for everything: a rule has to say it. */
const paysWanted = z.union(
  [
    z.literal('items'),
    z.strictObject({ product: productId }),
    z.strictObject({
      amount: z.int().min(1).max(maxTotal),
      currency: currencyCode.default('usd'),
    }),
  ],
  {
    error:
      'says what pays for the record: "items" (its own, each a product), {"product": "<id>"} or {"amount": 500, "currency": "usd"} at least',
  },
);

const rule = z
  .object({
    name: z.string(),
    collection: z.string(),
    set: onPaidFields,
    pays,
    updatedAt: timestamp,
  })
  .meta({ id: 'OnPaidRule' });
export type OnPaidRule = z.infer<typeof rule>;

const base = { service: 'payments', plane: 'platform', callers: ['owner', 'operator'] } as const;
const path = '/projects/:projectId/on-paid/:name';
const oneProject = z.object({ projectId: idInPath });

export const setOnPaidRule = defineRoute({
  ...base,
  operationId: 'setOnPaidRule',
  method: 'PUT',
  path,
  summary: 'What a payment writes into the record that a checkout names together with this rule',
  limit: 'write',
  params: oneProject.extend({ name: onPaidRuleName }),
  body: z.strictObject({
    collection: collectionName,
    set: onPaidFields.describe('Fields of the record, such as {"status": "paid"}'),
    pays: paysWanted.describe(
      'What pays for the record: "items", its own; a product; or an amount at least',
    ),
  }),
  response: rule,
  status: 200,
  errors: ['invalid_path', 'invalid_body', 'rule_limit', 'not_found'],
});

export const listOnPaidRules = defineRoute({
  ...base,
  operationId: 'listOnPaidRules',
  method: 'GET',
  path: '/projects/:projectId/on-paid',
  summary: `All of a project's rules for paid records by name; there are at most ${maxOnPaidRules}`,
  limit: 'read',
  params: oneProject,
  response: listOf(rule),
  status: 200,
  errors: ['not_found'],
});

export const deleteOnPaidRule = defineRoute({
  ...base,
  operationId: 'deleteOnPaidRule',
  method: 'DELETE',
  path,
  summary: 'Delete a rule; checkouts that have begun with it keep what it said',
  limit: 'write',
  params: oneProject.extend({ name: idInPath }),
  response: ok,
  status: 200,
  errors: ['not_found'],
});
