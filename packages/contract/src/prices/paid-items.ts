/** What payments, their routes and their events share. */
import { z } from 'zod';
import { recordUpTo, text } from '../schemas.ts';

const maxFields = 20;

/** Of the record itself, and where what was paid is written. */
const takenFields = ['id', 'ownerId', 'createdAt', 'updatedAt', 'payment'];
const field = text(1, 100).refine(
  (name) => !/^\$|\.|^__proto__$/.test(name) && !takenFields.includes(name),
  `may not start with "$", contain a dot or be one of ${takenFields.join(', ')}`,
);
export const onPaidFields = recordUpTo(
  maxFields,
  z.record(field, z.union([text(0, 1000), z.number(), z.boolean(), z.null()])),
);

/** As it is paid. */
export const pricedItem = z
  .object({
    name: z.string(),
    amount: z.int(),
    quantity: z.int(),
    product: z
      .string()
      .optional()
      .describe('Where its price came from; absent where the caller set it'),
  })
  .meta({ id: 'PaidItem' });
export type PaidItem = z.output<typeof pricedItem>;

/** What pays for a record: its own `items`, a product among what is bought, or as much money at least. */
export const pays = z.union([
  z.literal('items'),
  z.strictObject({ product: text(1, 64) }),
  z.strictObject({ amount: z.int().min(1), currency: text(3, 3) }),
]);
export type Pays = z.output<typeof pays>;

/** What became of a record that was paid for. */
export const settledOutcomes = [
  'done',
  'not_found',
  'items_differ',
  'already_paid',
  'too_large',
  'not_unique',
  'schema_mismatch',
] as const;
