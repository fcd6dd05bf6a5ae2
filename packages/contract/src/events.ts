import { z } from 'zod';
import { onPaidFields, pays, pricedItem, settledOutcomes } from './prices/paid-items.ts';

/** What a budget bounds: what visitors take, or a whole project. */
export const budgetKinds = ['visitors', 'project'] as const;
export type BudgetKind = (typeof budgetKinds)[number];

/** An id that no user has. */
export const nobody = '00000000-0000-0000-0000-000000000000';

/**
 * What services tell each other. Every event reaches each subscriber at least once; its id is unique
 * for good, so that a consumer can drop a repetition.
 */
export const events = {
  /** A project's name, status, settings or limits changed, or it was created or restored. */
  'project.changed': z.object({ projectId: z.string(), projectNumber: z.number() }),
  /** A deleted project's 30 days are over: every service erases what it holds of it. */
  'project.erased': z.object({ projectId: z.string(), projectNumber: z.number() }),
  /** A secret key was revoked; `keyHash` is the SHA-256 of the key in base64url. */
  'key.revoked': z.object({
    projectId: z.string(),
    keyHash: z.string(),
    /** Its id, and its project's number; absent from events of older versions. */
    keyId: z.string().optional(),
    projectNumber: z.number().optional(),
  }),
  /** Sessions ended before their tokens did. */
  'session.revoked': z.object({
    projectNumber: z.number(),
    sessionIds: z.array(z.string()).max(1000),
  }),
  /** The role or the groups of these users changed: what is known of their sessions is out of date. */
  'user.changed': z.object({
    projectNumber: z.number(),
    userIds: z.array(z.string()).max(1000),
  }),
  /** An account was erased; its id names nobody from now on. */
  'user.erased': z.object({
    projectId: z.string(),
    projectNumber: z.number(),
    userId: z.string(),
    /** The address that the account had, for whoever knows it by no other name. */
    email: z.string(),
    /** Whether the account had shown that the address is its own; absent from events of older versions. */
    emailVerified: z.boolean().optional(),
  }),
  /**
   * A user has shown that the address is theirs; repeated where it is shown again, or asked for. With
   * `nobody` as the user: it was somebody's, and is theirs no more. Events overtake each other: `users`
   * tells whose it is now.
   */
  'user.verified': z.object({ projectNumber: z.number(), userId: z.string(), email: z.string() }),
  /** A record was shared with an address: `user.verified` tells whose it is, if it is anybody's. */
  'share.requested': z.object({ projectNumber: z.number(), email: z.string() }),
  /** A user has shared records that are theirs by a group or a role alone; both may be gone by now. */
  'share.given': z.object({ projectNumber: z.number(), userId: z.string() }),
  /** An owner has shown that their e-mail address is theirs; repeated where it is shown again. */
  'owner.verified': z.object({ ownerId: z.string() }),
  /** A collection's access changed or it was created. */
  'collection.changed': z.object({ projectNumber: z.number(), name: z.string() }),
  /** A priced call did its work: one ledger line per `callId`, however often this arrives. */
  'usage.recorded': z.object({
    callId: z.uuid(),
    projectId: z.string(),
    projectNumber: z.number().int(),
    ownerId: z.uuid(),
    /** operationId of the route. */
    route: z.string(),
    millicredits: z.number().int().min(0),
    /** What was used, for example `{tokens: 120}`. */
    units: z.record(z.string(), z.number()),
    occurredAt: z.string(),
  }),
  /** An owner has used up this part of what was granted for the month. */
  'credits.low': z.object({
    ownerId: z.uuid(),
    percent: z.union([z.literal(80), z.literal(95), z.literal(100)]),
    balanceMillicredits: z.number().int(),
  }),
  /** Visitors, or a whole project, have met a budget: at most once a day and kind for an owner. */
  'budget.reached': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    projectName: z.string(),
    ownerId: z.uuid(),
    kind: z.enum(budgetKinds),
    /** Of who met it first: network address, and method and path of the call. */
    address: z.string(),
    route: z.string(),
  }),
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
  /** The platform wants a mail sent to a user of a project. */
  'mail.requested': z.object({
    projectId: z.string(),
    projectNumber: z.number(),
    projectName: z.string(),
    /** SHA-256 of the network address that asked, in hex; absent from events of older versions. */
    ipHash: z.string().optional(),
    to: z.string(),
    name: z.string().nullable(),
    template: z.enum([
      ...(['verify-email', 'reset-password', 'group-invite'] as const),
      ...(['confirm-new-email', 'allow-email-change'] as const),
    ]),
    /** Of a change of the address, in the mail to the present one. */
    newEmail: z.string().optional(),
    /** Of an invitation: the group's name, and that of who invites. */
    group: z.object({ name: z.string(), invitedBy: z.string().nullable() }).optional(),
    /** The one-time token of the link. */
    token: z.string(),
    expiresAt: z.string(),
  }),
  /** A mail is stored and waits to be delivered. */
  'mail.queued': z.object({ projectNumber: z.number().int(), mailId: z.uuid() }),
} as const;

export type Topic = keyof typeof events;
export type Payload<T extends Topic> = z.infer<(typeof events)[T]>;
export type EventPayloads = { [T in Topic]: Payload<T> };
