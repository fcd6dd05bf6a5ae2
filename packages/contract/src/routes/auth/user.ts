import { z } from 'zod';
import { displayName, text, timestamp, uuid } from '../../schemas.ts';

export const block = z
  .object({ reason: z.string().nullable(), until: timestamp.nullable() })
  .optional()
  .describe('Absent from who is not blocked');

/** As lists show it. */
export const listedUser = z
  .object({
    id: uuid,
    email: z.string().nullable().describe('Null: a guest'),
    name: z.string().nullable(),
    avatar: uuid.nullable().describe('Id of a file'),
    role: z.string(),
    emailVerified: z.boolean(),
    isGuest: z.boolean(),
    blocked: block,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'ListedUser' });

export type ListedUser = z.infer<typeof listedUser>;

export const user = listedUser
  .extend({
    profile: z.record(z.string(), z.unknown()).describe('What the app keeps of the user'),
    publicProfile: z.record(z.string(), z.unknown()).describe('What the user shows others'),
  })
  .meta({ id: 'User' });

export type User = z.infer<typeof user>;

export const session = z.object({ token: z.string(), user }).meta({ id: 'Session' });

export type SessionAnswer = z.infer<typeof session>;

/** A sign-in that has shown the first factor, and waits for the second: POST /auth/factors/verify. */
export const factorAsked = z
  .object({
    factorToken: z.string().describe('Good for 10 minutes, once'),
    factors: z
      .array(z.enum(['totp', 'recovery-code', 'passkey']))
      .describe('What the account has; a passkey signs in by itself'),
  })
  .meta({ id: 'FactorAsked' });

/** What every way of signing in answers. */
export const signInAnswer = z.union([session, factorAsked]);

/** Of a device that is remembered. */
export const deviceToken = z
  .string()
  .max(128)
  .optional()
  .describe('Of POST /auth/factors/verify {"remember":true}: asked for no second factor');

/** Nothing is merged, and nobody signed in. */
export const mergeErrors = ['forbidden', 'blocked', 'verify_first', 'factor_first'] as const;

/** Of a call in which somebody shows that an account is theirs. */
export const merge = z
  .boolean()
  .optional()
  .describe(
    'With the token of a guest: true makes what is the guest’s the account’s, and ends the guest; false leaves the guest alone',
  );

export type SignInAnswer = z.infer<typeof signInAnswer>;

/** Where somebody comes in who may have no account yet. */
export const newSession = session
  .extend({ isNew: z.boolean().describe('Whether the account was made by this call') })
  .meta({ id: 'NewSession' });

/** What a user is in a project or a group. */
export const roleName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be 1-32 of a-z, 0-9, _ and -, starting with a letter');

export const name = displayName(100);

/** Fields that block a user. */
export const blockFields = {
  blocked: z
    .boolean()
    .optional()
    .describe('A blocked user reads what anyone reads, and writes nothing'),
  reason: text(1, 500).optional().describe('Shown to the user'),
  until: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('A time to come; without it for good'),
};

export interface BlockFields {
  blocked?: boolean | undefined;
  reason?: string | undefined;
  until?: string | undefined;
}

export const inProfile =
  'What the app keeps of a user: PATCH /auth/me {"profile":{"plan":"free"}}.';

/** Every user may see the own account, and sign in and out. */
export const toAll = ['blocked', 'unverified', 'first-factor'] as const;
/** To who has one factor of two, nothing but what sets up the second. */
export const toSetUp = ['unverified', 'first-factor'] as const;
/** Every user whose sign-in is whole may end sessions and erase the own account. */
export const toWhole = ['blocked', 'unverified'] as const;

export const everyone = ['anonymous', 'user', 'owner', 'key', 'operator'] as const;
