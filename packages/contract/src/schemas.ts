import { z } from 'zod';

export const timestamp = z.iso.datetime({ precision: 3 }).describe('ISO 8601, UTC, milliseconds');
export const uuid = z.uuid();
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Whether PostgreSQL takes it as a uuid: what is none names nothing. */
export const isUuid = (value: string): boolean => uuidPattern.test(value);
export const ok = z.object({ ok: z.literal(true) });

/** Ids in paths are loose: a malformed one names nothing and is a 404, not a 400. */
export const idInPath = z.string().min(1);

const pageQuery = {
  limit: z.coerce
    .number<string>()
    .int()
    .min(0)
    .transform((n) => Math.min(n, 1000))
    .default(100),
  cursor: z.string().max(2048).optional(),
};
export const listQuery = z.object(pageQuery);

export const listOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), hasMore: z.boolean(), nextCursor: z.string().nullable() });

/** Well-formed Unicode without NUL, so that PostgreSQL can keep it. */
export const text = (min: number, max: number, string = z.string()) =>
  string
    .min(min)
    .max(max)
    .refine(
      (value) => value.isWellFormed() && !value.includes('\0'),
      'must be text without NUL or lone surrogates',
    );

/**
 * What people are called by, in mails and on pages: nothing that could end a line or a header, or turn
 * the text around it.
 */
export const displayName = (max: number) =>
  text(1, max).refine(
    (value) => !/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(value),
    'must be one line without control and direction characters',
  );

export const failure = z.object({
  error: z.string(),
  code: z.string(),
  requestId: z.string(),
  hint: z.string().optional(),
});
