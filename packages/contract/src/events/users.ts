import { z } from 'zod';

/** An id that no user has. */
export const nobody = '00000000-0000-0000-0000-000000000000';

export const userEvents = {
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
  /** An owner has shown that their e-mail address is theirs; repeated where it is shown again. */
  'owner.verified': z.object({ ownerId: z.string() }),
} as const;
