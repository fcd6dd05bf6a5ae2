import { z } from 'zod';
import { callers, defineRoute } from '../../define-route.ts';
import { idInPath, listOf, listQuery, ok, timestamp, visibleLine } from '../../schemas.ts';

/** docs/api.md, "Products". */
export const maxProducts = 5000;
/** In the currency's smallest unit, of a product and of all that is paid at once. */
export const maxTotal = 99_999_999;
export const maxStock = 1_000_000_000;

export const productId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    'must be 1-64 of A-Z, a-z, 0-9, _ and -, starting with a letter or digit',
  );
export const itemName = visibleLine(250);
export const itemAmount = z
  .int({
    error: ({ code }) =>
      code === 'invalid_type' ? 'is in cents: a whole number, such as 1999' : undefined,
  })
  .min(0)
  .max(maxTotal)
  .describe('In the smallest unit: 1999 is 19.99 USD');
export const currencyCode = z
  .string()
  .regex(/^[A-Za-z]{3}$/, 'must be three letters (ISO 4217)')
  .transform((code) => code.toLowerCase());

const product = z
  .object({
    id: z.string(),
    name: z.string(),
    amount: z.int(),
    currency: z.string().describe('ISO 4217, lower case'),
    stock: z.int().nullable().describe('How many are left; null: not counted'),
    active: z.boolean().describe('Whether it is for sale'),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Product' });
export type Product = z.infer<typeof product>;

const base = { service: 'payments', plane: 'runtime', callers } as const;
const oneProduct = z.object({ productId: idInPath });

export const listProducts = defineRoute({
  ...base,
  operationId: 'listProducts',
  method: 'GET',
  path: '/products',
  summary: 'What is for sale, newest first; those who may change it see all of it',
  limit: 'read',
  query: listQuery,
  response: listOf(product),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor'],
});

export const getProduct = defineRoute({
  ...base,
  operationId: 'getProduct',
  method: 'GET',
  path: '/products/:productId',
  summary: 'Read a product',
  limit: 'read',
  params: oneProduct,
  response: product,
  status: 200,
  errors: ['not_found'],
});

/** Of users those whose role is `staff`. */
const managed = { ...base, callers: ['user', 'owner', 'key', 'operator'] } as const;

export const setProduct = defineRoute({
  ...managed,
  operationId: 'setProduct',
  method: 'PUT',
  path: '/products/:productId',
  summary: 'Create or replace a product: what checkouts that name it cost',
  limit: 'write',
  params: z.object({ productId }),
  body: z.strictObject({
    name: itemName,
    amount: itemAmount,
    currency: currencyCode.default('usd'),
    stock: z
      .int()
      .min(0)
      .max(maxStock)
      .nullable()
      .optional()
      .describe('null: not counted. Left out: it stays as it is, and is not counted at first'),
    active: z.boolean().default(true),
  }),
  response: product,
  status: 200,
  errors: ['invalid_path', 'invalid_body', 'forbidden', 'product_limit'],
});

export const deleteProduct = defineRoute({
  ...managed,
  operationId: 'deleteProduct',
  method: 'DELETE',
  path: '/products/:productId',
  summary: 'Delete a product; payments keep what was ordered',
  limit: 'write',
  params: oneProduct,
  response: ok,
  status: 200,
  errors: ['forbidden', 'not_found'],
});
