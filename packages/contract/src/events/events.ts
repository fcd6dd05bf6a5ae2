import { z } from 'zod';
import { onPaidFields, pays, pricedItem, settledOutcomes } from '../prices/paid-items.ts';
import { givenRoles } from '../rights/member-roles.ts';
import { platformActed } from './acts.ts';
import { appEvent, recordEventTypes } from './app-events.ts';
import { findingKinds, mostSeenAtOnce, mostSigns, seenFinding } from './findings.ts';

/** What a budget bounds: what visitors take, or a whole project. */
export const budgetKinds = ['visitors', 'project'] as const;
export type BudgetKind = (typeof budgetKinds)[number];

/** What users are told by mail of their sign-in. */
export const noticeKinds = [
  'new-device',
  'password-changed',
  'factor-added',
  'factor-removed',
  'passkey-added',
  'passkey-removed',
  'identity-linked',
  'identity-removed',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

const channelPresence = z.object({
  id: z.string(),
  channel: z.string(),
  userId: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
  since: z.string(),
});
const inProject = { projectNumber: z.number().int() };

const presenceTold = z.discriminatedUnion('kind', [
  /** The process lives, and has so many changes of these projects behind it. */
  z.object({
    kind: z.literal('alive'),
    versions: z.array(z.tuple([z.number().int(), z.number().int()])).max(1000),
  }),
  z.object({
    ...inProject,
    kind: z.literal('changed'),
    before: z.number().int(),
    version: z.number().int(),
    here: z.array(channelPresence),
    gone: z.array(z.object({ id: z.string(), channel: z.string() })),
  }),
  z.object({
    ...inProject,
    kind: z.literal('all'),
    version: z.number().int(),
    here: z.array(channelPresence),
  }),
  /** Asks a process for all of a project. */
  z.object({ ...inProject, kind: z.literal('ask'), of: z.string() }),
  /** For the process that has the stream. */
  z.object({
    ...inProject,
    kind: z.literal('set'),
    stream: z.string(),
    caller: z.string(),
    channel: z.string(),
    data: z.record(z.string(), z.unknown()).nullable(),
  }),
]);
export type PresenceTold = z.infer<typeof presenceTold>;
export type ChannelPresence = z.infer<typeof channelPresence>;

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
  /** An operator's token was revoked; `tokenHash` is its SHA-256 in base64url. */
  'operator-token.revoked': z.object({ tokenHash: z.string() }),
  /** Sessions ended before their tokens did. */
  'session.revoked': z.object({
    projectNumber: z.number(),
    sessionIds: z.array(z.string()).max(1000),
  }),
  /** The role, the groups or a block of these users changed: what is known of their sessions is out of date. */
  'user.changed': z.object({
    projectNumber: z.number(),
    userIds: z.array(z.string()).max(1000),
  }),
  /** An account was erased; its id names nobody from now on. */
  'user.erased': z.object({
    projectId: z.string(),
    projectNumber: z.number(),
    userId: z.string(),
    /** The address that the account had, for whoever knows it by no other name; null of a guest. */
    email: z.string().nullable(),
    /** Whether the account had shown that the address is its own; absent from events of older versions. */
    emailVerified: z.boolean().optional(),
  }),
  /**
   * A guest's account became part of a user's, and its id names nobody from now on: what is the guest's is the
   * user's. Told again two minutes later, when all that the guest had under way has ended.
   */
  'user.merged': z.object({
    projectId: z.string(),
    projectNumber: z.number(),
    guestId: z.uuid(),
    userId: z.uuid(),
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
  /** This process of records has open streams of these projects; repeated while it has. May be lost. */
  'log.watched': z.object({
    process: z.string(),
    projectNumbers: z.array(z.number().int()).max(1000),
  }),
  /** Records of these projects have changed: the log may have more. May be lost. */
  'log.written': z.object({
    process: z.string(),
    projectNumbers: z.array(z.number().int()).max(1000),
  }),
  /** What callers have said in channels, for the streams of all processes of records. May be lost. */
  'channel.said': z.object({
    messages: z
      .array(z.object({ projectNumber: z.number().int(), channel: z.string(), text: z.string() }))
      .max(200),
  }),
  /** What a process of records tells others of who is there. May be lost: each says again which version it is at. */
  'presence.told': z.object({ process: z.string(), told: presenceTold }),
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
    /** `user:<id>`, `key:<id>`, `owner`, `member:<id>`, `operator` or `visitor`; absent from events of older versions. */
    caller: z.string().max(100).optional(),
    /** Network address of a visitor or user. */
    address: z.string().max(100).optional(),
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
      'verify-email',
      'reset-password',
      'group-invite',
      'confirm-new-email',
      'allow-email-change',
      'sign-in-code',
    ]),
    /** Six digits that do what the link does, where the mail has some. */
    code: z.string().optional(),
    /** Of a change of the address, in the mail to the present one. */
    newEmail: z.string().optional(),
    /** Of an invitation: the group's name, and that of who invites. */
    group: z.object({ name: z.string(), invitedBy: z.string().nullable() }).optional(),
    /** The one-time token of the link. */
    token: z.string(),
    expiresAt: z.string(),
  }),
  /** A user of a project, whose address is verified, is to know what happened to their sign-in. */
  'notice.requested': z.object({
    projectId: z.string(),
    projectNumber: z.number(),
    projectName: z.string(),
    to: z.string(),
    name: z.string().nullable(),
    kind: z.enum(noticeKinds),
    /** Which passkey, provider or factor. */
    detail: z.string().nullable(),
    device: z.string().nullable(),
    network: z.string().nullable(),
    at: z.string(),
  }),
  /** Somebody is to become a member of a project, with the one-time token of the link. */
  'member.invited': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    projectName: z.string(),
    ownerId: z.uuid(),
    /** SHA-256 of the network address that asked, in hex. */
    ipHash: z.string(),
    to: z.string(),
    role: z.enum(givenRoles),
    /** Address of who invites. */
    invitedBy: z.string().nullable(),
    token: z.string(),
    expiresAt: z.string(),
  }),
  /** Something happened in an app that its owner may want to be told of. */
  'app.event': appEvent,
  /** What webhooks of a project want to know of its records: all of it; the highest version holds. */
  'webhooks.changed': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    version: z.number().int(),
    wants: z
      .array(
        z.object({
          webhook: z.string(),
          types: z.array(z.enum(recordEventTypes)),
          /** Null: every one. */
          collection: z.string().nullable(),
          where: z.record(z.string(), z.unknown()).nullable(),
          /** What was written before is not told. */
          since: z.string(),
        }),
      )
      .max(500),
  }),
  /** A webhook was switched off: its owner is told. */
  'webhook.stopped': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    projectName: z.string(),
    ownerId: z.uuid(),
    webhook: z.string(),
    /** Of its address, no more. */
    host: z.string(),
    reason: z.string(),
  }),
  /** A key, user or visitor has deleted many records within a minute: at most once a day for a project. */
  'records.deleted': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    projectName: z.string(),
    ownerId: z.uuid(),
    /** user:<id>, key:<id> or visitor. */
    actor: z.string(),
    count: z.number().int(),
    /** When the first one was deleted. */
    since: z.string(),
    /** Whose records they all were: it was deleted or emptied, which no undo takes back. */
    collection: z.string().optional(),
  }),
  /** A service has seen signs of abuse in a project, or of more being open than is meant. */
  'finding.seen': z.object({
    projectNumber: z.number().int(),
    seen: z.array(seenFinding).min(1).max(mostSeenAtOnce),
  }),
  /** The operator has the owner told of a finding: once for each. */
  'finding.told': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    projectName: z.string(),
    ownerId: z.uuid(),
    kind: z.enum(findingKinds),
    /** The collection of an exposure, else empty. */
    subject: z.string(),
    signs: z.array(z.string()).max(mostSigns),
    calls: z.int(),
    since: z.string(),
  }),
  /** Something of the control plane was changed: a line of the audit log. */
  'platform.acted': platformActed,
  /** A mail is stored and waits to be delivered. */
  'mail.queued': z.object({ projectNumber: z.number().int(), mailId: z.uuid() }),
} as const;

export type Topic = keyof typeof events;
export type Payload<T extends Topic> = z.infer<(typeof events)[T]>;
export type EventPayloads = { [T in Topic]: Payload<T> };
