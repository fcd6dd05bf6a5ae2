import { z } from 'zod';
import { onPaidFields, pays, pricedItem, settledOutcomes } from '../prices/paid-items.ts';

export const paymentEvents = {
  /** A payment took a step: it is published once for each status that is reached. */
  'payment.changed': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    paymentId: z.uuid(),
    status: z.enum(['paid', 'failed', 'expired', 'refunding', 'refunded']),
  }),
  /** A payment for a record has arrived; repeated until `record.settled` answers. */
  'record.paid': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    collection: z.string(),
    recordId: z.uuid(),
    /** What the owner's rule puts into the record. */
    set: onPaidFields,
    /** What pays for it; absent from events of older versions: its items. */
    pays: pays.optional(),
    /** Written into the record too. */
    payment: z.object({
      id: z.uuid(),
      sessionId: z.string(),
      amount: z.int(),
      currency: z.string(),
      items: z.array(pricedItem),
      livemode: z.boolean(),
      paidAt: z.string(),
    }),
  }),
  /** What became of a record that was paid for. */
  'record.settled': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    paymentId: z.uuid(),
    outcome: z.enum(settledOutcomes),
  }),
} as const;
