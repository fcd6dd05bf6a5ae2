import { z } from 'zod';

/** Of what was there before and is there after, as JSON; what is larger is named, not shown. */
export const maxShownBytes = 4096;

const shown = z.record(z.string(), z.unknown()).nullable();

/** Who acted. Account and key by their ids; the operator by the name of the token, where it has one. */
export const actor = z.object({
  /** In which capacity: owner, key, operator. */
  kind: z.string().max(20),
  userId: z.string().nullable(),
  keyId: z.string().nullable(),
  operator: z.string().max(200).nullable(),
  memberRole: z.string().max(50).nullable(),
});

/** Something of the control plane was changed; sent with the change itself. */
export const platformActed = z.object({
  id: z.uuid(),
  at: z.string(),
  service: z.string().max(50),
  /** operationId of the route. */
  action: z.string().max(100),
  projectId: z.string().nullable(),
  /** Whose project or credits it is about; null where it is nobody's. */
  ownerId: z.string().nullable(),
  target: z.string().max(300),
  actor,
  address: z.string().max(100),
  userAgent: z.string().max(300).nullable(),
  requestId: z.string().max(200),
  before: shown,
  after: shown,
});
export type PlatformActed = z.infer<typeof platformActed>;
