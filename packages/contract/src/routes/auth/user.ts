import { z } from 'zod';
import { displayName, timestamp, uuid } from '../../schemas.ts';

/** As lists show it. */
export const listedUser = z
  .object({
    id: uuid,
    email: z.string(),
    name: z.string().nullable(),
    avatar: uuid.nullable().describe('Id of a file'),
    role: z.string(),
    emailVerified: z.boolean(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'ListedUser' });

export type ListedUser = z.infer<typeof listedUser>;

export const user = listedUser
  .extend({
    profile: z.record(z.string(), z.unknown()).describe('What the app keeps of the user'),
  })
  .meta({ id: 'User' });

export type User = z.infer<typeof user>;

export const session = z.object({ token: z.string(), user }).meta({ id: 'Session' });

/** What a user is in a project or a group. */
export const roleName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be 1-32 of a-z, 0-9, _ and -, starting with a letter');

export const name = displayName(100);

export const inProfile =
  'What the app keeps of a user: PATCH /auth/me {"profile":{"plan":"free"}}.';

export const everyone = ['anonymous', 'user', 'owner', 'key', 'operator'] as const;
