import { z } from 'zod';

export const recordEvents = {
  /** A collection's access changed or it was created. */
  'collection.changed': z.object({ projectNumber: z.number(), name: z.string() }),
  /** A record was shared with an address: `user.verified` tells whose it is, if it is anybody's. */
  'share.requested': z.object({ projectNumber: z.number(), email: z.string() }),
  /** A user has shared records that are theirs by a group or a role alone; both may be gone by now. */
  'share.given': z.object({ projectNumber: z.number(), userId: z.string() }),
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
    /** Whose records they all were: it was deleted or emptied. */
    collection: z.string().optional(),
    /** Until when it can come back; absent: it is erased at once. */
    keptUntil: z.string().optional(),
  }),
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
} as const;
