import { callers, type FileReader } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { z } from 'zod';

/** For whom one service asks another, as `FileReader` has it. */
export const askingCaller = z.object({
  project: z.object({ id: z.string(), number: z.int().min(0), ownerId: z.string().nullable() }),
  caller: z.enum(callers),
  userId: z.string().nullable(),
  role: z.string().optional(),
  emailVerified: z.literal(true).optional(),
  groups: z
    .array(z.object({ id: z.string(), role: z.string() }))
    .max(100)
    .optional(),
  ip: z.string(),
});

/** As far as it decides about records and files. */
export const toIdentity = ({
  project,
  caller,
  userId,
  role,
  emailVerified,
  groups,
  ip,
}: FileReader): Identity => ({
  project: { ...project, name: '', settings: {} },
  caller,
  userId,
  ip,
  ...(role !== undefined && { role }),
  ...(emailVerified && { emailVerified }),
  ...(groups && { groups }),
  sessionId: null,
  keyId: null,
});
