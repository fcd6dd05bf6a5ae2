import { z } from 'zod';
import { accessPresets } from '../../access-rules.ts';
import { MIB } from '../../define-route.ts';
import { email } from '../../email-address.ts';
import { text } from '../../schemas.ts';

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

/** Who may make calls of a kind: each of these; with none of them nobody but the owner and keys. */
const callersOfKind = z
  .array(
    z
      .string()
      .max(37, { abort: true })
      .regex(
        /^(anyone|users|role:[a-z0-9_-]{1,32})$/,
        'must be "anyone", "users" or "role:<name>", such as "role:member"',
      ),
  )
  .max(20);

const credits = z.number().int().min(0).max(1_000_000_000);

/** docs/api.md, "Control plane"; every setting may be left out. */
export const projectSettings = z.strictObject({
  emailRecipients: z.enum(['anyone', 'known']).optional(),
  emailAllowList: z.array(email).max(1000).optional(),
  emailPerVisitorPerDay: z.number().int().min(0).max(1_000_000).optional(),
  uploadsPerVisitorPerDay: z.number().int().min(0).max(1_000_000).optional(),
  visitorCreditsPerDay: credits.optional(),
  creditsPerDay: credits.optional(),
  creditsPerMonth: credits.optional(),
  callers: z
    .strictObject({
      ai: callersOfKind.optional(),
      uploads: callersOfKind.optional(),
      email: callersOfKind.optional(),
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
  defaultAccess: z.enum(accessPresets).optional(),
});

export type ProjectSettings = z.infer<typeof projectSettings>;
