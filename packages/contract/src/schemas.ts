import { z } from 'zod';

export const timestamp = z.iso.datetime({ precision: 3 }).describe('ISO 8601, UTC, milliseconds');
export const uuid = z.uuid();
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Whether PostgreSQL takes it as a uuid: what is none names nothing. */
export const isUuid = (value: string): boolean => uuidPattern.test(value);
export const ok = z.object({ ok: z.literal(true) }).meta({ id: 'Ok' });

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

/** Called `<Item>Page` in the API's description, where the item has a name. */
export const listOf = <T extends z.ZodType>(item: T) => {
  const page = z.object({
    items: z.array(item),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable(),
  });
  const name = item.meta()?.id;
  return name ? page.meta({ id: `${name}Page` }) : page;
};

/** Well-formed Unicode without NUL, so that PostgreSQL can keep it. */
export const text = (min: number, max: number, string = z.string()) =>
  string
    .min(min)
    .max(max, { abort: true })
    .refine(
      (value) => value.isWellFormed() && !value.includes('\0'),
      'must be text without NUL or lone surrogates',
    );

/** What shows nothing: spaces, control and format characters, marks without a letter, and blank letters. */
const isInvisible = /^[\p{Z}\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}]*$/u;

const showsSomething = (value: string) => !isInvisible.test(value);
const mustShow = 'must have a character that can be seen';

/** Lines of text, one of which shows something. */
export const visibleText = (max: number) => text(1, max).refine(showsSomething, mustShow);

/**
 * One line that shows something: nothing that could end a line or a header, or turn the text around it.
 */
export const visibleLine = (max: number, string = z.string()) =>
  text(1, max, string)
    .refine(
      (value) => !/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(value),
      'must be one line without control and direction characters',
    )
    .refine(showsSomething, mustShow);

/** What users, groups, projects and keys are called by, in mails and on pages; without spaces around it. */
export const displayName = (max: number) => visibleLine(max, z.string().trim());

/** Its keys are counted before any is looked at: of each that is wrong zod would make an issue. */
export const recordUpTo = <Record extends z.ZodRecord>(maxKeys: number, record: Record) =>
  z.preprocess((value, context) => {
    if (typeof value !== 'object' || value === null || Object.keys(value).length <= maxKeys)
      return value;
    context.addIssue({ code: 'custom', message: `may have at most ${maxKeys} keys` });
    return z.NEVER;
  }, record);

const maxJsonLevels = 16;

/** Comes back from PostgreSQL as it was sent. */
const isStorable = (value: unknown, levels: number): boolean => {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    levels > 0 &&
    Object.entries(value).every(
      ([key, item]) =>
        key !== '__proto__' && isStorable(key, levels) && isStorable(item, levels - 1),
    )
  );
};

/** A free JSON object of so many bytes and levels. */
export const jsonObject = (maxBytes: number, maxLevels = maxJsonLevels) =>
  z
    .record(z.string(), z.unknown())
    .refine(
      (value) => isStorable(value, maxLevels),
      `must be JSON of at most ${maxLevels} levels, without NUL and lone surrogates`,
    )
    .refine(
      (value) => new TextEncoder().encode(JSON.stringify(value)).length <= maxBytes,
      `may have at most ${maxBytes} bytes as JSON`,
    );

export const failure = z
  .object({
    error: z.string(),
    code: z.string(),
    requestId: z.string(),
    hint: z.string().optional(),
    problems: z
      .array(
        z.object({
          operation: z.string().optional().describe('Of a batch: create[3]'),
          path: z.string().describe('Of the field: items[3].price'),
          rule: z.string().describe('The keyword of the schema'),
          message: z.string().describe('Stands behind the path: must be at least 0'),
        }),
      )
      .optional()
      .describe('With schema_mismatch: up to 20 things that do not fit'),
    challenge: z
      .object({
        parameters: z.record(z.string(), z.unknown()),
        signature: z.string(),
      })
      .optional()
      .describe('With proof_of_work_needed: an ALTCHA challenge'),
  })
  .meta({ id: 'Failure' });

/** Ids, separated by commas. */
export const idsInQuery = (most: number) =>
  z
    .string()
    .min(1)
    .max(most * 37)
    .transform((ids) => ids.split(','))
    .refine((ids) => ids.length <= most, `takes at most ${most} ids`);
