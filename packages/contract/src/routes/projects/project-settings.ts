import { z } from 'zod';
import { MIB } from '../../define-route.ts';
import { accessPresets } from '../../rules/access-rules.ts';
import { callerWords } from '../../rules/caller-words.ts';
import { channelRules } from '../../rules/channel-rules.ts';
import { text } from '../../schemas.ts';
import { email, normalizeEmail } from '../../texts/email-address.ts';
import { roleName } from '../auth/user.ts';
import { largestUploadBytes } from '../storage/upload-fields.ts';

export const origin = z
  .string()
  .max(255, { abort: true })
  .check(z.url({ protocol: /^https?$/ }))
  .refine(
    (value) => URL.canParse(value) && new URL(value).origin === value,
    'must be an origin such as https://example.org',
  );

/** The app's own page for account links: an address to which a fragment is added. */
const pageUrl = z
  .string()
  .max(500, { abort: true })
  .check(z.url({ protocol: /^https?$/ }))
  .refine(
    (value) =>
      URL.canParse(value) &&
      new URL(value).href === value &&
      !value.includes('#') &&
      new URL(value).username === '' &&
      new URL(value).password === '',
    'must be an address such as https://example.org/account, as browsers write it, without a fragment',
  );

/** What those may upload who do not run the project. */
const uploadLimits = z.strictObject({
  types: z
    .array(
      z
        .string()
        .max(60, { abort: true })
        .regex(
          /^[a-z]+\/(\*|[a-z0-9.+-]+)$/,
          'must be a media type in lower case, such as "image/*" or "application/pdf"',
        ),
    )
    .max(20)
    .optional(),
  maxBytes: z.number().int().min(1).max(largestUploadBytes).optional(),
  perUser: z.number().int().min(0).max(1_000_000_000_000).optional(),
  /** Of a group, who put files into it beside its owners and admins. Default all members. */
  groupRoles: z.array(roleName).max(20).optional(),
});

const credits = z.number().int().min(0).max(1_000_000_000);

const emailDomain = z
  .string()
  .max(253, { abort: true })
  .overwrite((domain) => normalizeEmail(`a@${domain}`).slice(2))
  .refine(
    (domain) => email.safeParse(`a@${domain}`).success,
    'must be the domain of e-mail addresses, such as example.org',
  );

/** Who may make an account by themselves. */
const signUp = z.union(
  [
    z.enum(['anyone', 'invited', 'nobody']),
    z.strictObject({ domains: z.array(emailDomain).min(1).max(20) }),
  ],
  {
    error: 'must be "anyone", "invited", "nobody" or {"domains": ["example.org"]}, at most 20',
  },
);

/** docs/owners.md, "Settings"; every setting may be left out. */
export const projectSettings = z.strictObject({
  emailRecipients: z.enum(['anyone', 'known']).optional(),
  emailAllowList: z.array(email).max(1000).optional(),
  mailContent: z.enum(['templates', 'anything']).optional(),
  emailPerVisitorPerDay: z.number().int().min(0).max(1_000_000).optional(),
  uploadsPerVisitorPerDay: z.number().int().min(0).max(1_000_000).optional(),
  visitorCreditsPerDay: credits.optional(),
  creditsPerDay: credits.optional(),
  creditsPerMonth: credits.optional(),
  callers: z
    .strictObject({
      ai: callerWords.optional(),
      uploads: callerWords.optional(),
      email: callerWords.optional(),
    })
    .optional(),
  allowedOrigins: z.array(origin).max(100).optional(),
  accountPageUrl: pageUrl.optional(),
  maxUploadBytes: z
    .number()
    .int()
    .min(1)
    .max(5 * 1024 * MIB)
    .optional(),
  aiModel: text(1, 200).optional(),
  aiPerVisitorPerDay: z.number().int().min(0).max(1_000_000).optional(),
  createCollections: z.boolean().optional(),
  payments: z.enum(['any', 'products-only']).optional(),
  productEditors: z
    .array(z.string().regex(/^role:[a-z0-9_-]{1,32}$/, 'must be a role, such as "role:staff"'))
    .max(10)
    .optional(),
  signUp: signUp.optional(),
  guests: z
    .boolean()
    .optional()
    .describe(
      'Sessions without an address; unless set, where anyone may sign up and none must verify',
    ),
  codes: z.boolean().optional().describe('Sign-in by a code that is mailed; on unless set'),
  mustVerify: z
    .boolean()
    .optional()
    .describe('Users do nothing but with their account until their address is verified'),
  mustUse2fa: z
    .array(roleName)
    .max(20)
    .optional()
    .describe(
      'Users of these roles do nothing but set up a second factor until they have used one',
    ),
  defaultAccess: z.enum(accessPresets).optional(),
  publicProfiles: z.boolean().optional(),
  storage: uploadLimits.optional(),
  channels: channelRules
    .optional()
    .describe('Who hears and says what in which channels; others are closed'),
});

export type ProjectSettings = z.infer<typeof projectSettings>;
