import { z } from 'zod';

/** What happens in an app besides its records. */
const happenings = [
  'user.created',
  'user.verified',
  'user.merged',
  'user.erased',
  'payment.paid',
  'payment.failed',
  'payment.expired',
  'payment.refunded',
  'file.created',
  'file.deleted',
  'mail.bounced',
  'mail.complained',
] as const;

export const recordEventTypes = ['record.created', 'record.updated', 'record.deleted'] as const;
export type RecordEventType = (typeof recordEventTypes)[number];

export const appEventTypes = [...happenings, ...recordEventTypes] as const;
export type AppEventType = (typeof appEventTypes)[number];

/** Of a record's data in an event, as JSON; a larger one is named and not shown. */
export const maxEventDataBytes = 256 * 1024;

/** Something that happened in an app, for whoever its owner has tell. */
export const appEvent = z.object({
  /** Of what happened, however often it is told. */
  id: z.uuid(),
  projectNumber: z.number().int(),
  type: z.enum(appEventTypes),
  /** Events of one key are told in their order: `orders/<id>`. */
  orderKey: z.string().max(200),
  /** Consecutive in a project, from 1, where a source counts what it tells: then order does not hang on the way. */
  number: z.number().int().min(1).optional(),
  /** The collection of a record. */
  collection: z.string().optional(),
  /** Whom it is about: with that account what is kept of it goes. */
  userId: z.uuid().nullable().optional(),
  /** Webhooks whose filter it passed; absent: all that want its type. */
  webhooks: z.array(z.string()).max(100).optional(),
  data: z.record(z.string(), z.unknown()),
  occurredAt: z.string(),
});
export type AppEvent = z.infer<typeof appEvent>;
