import { z } from 'zod';
import { KIB } from '../../define-route.ts';
import { recordUpTo, text } from '../../schemas.ts';

const maxFields = 40;
const maxFieldsOfItem = 20;
const maxFieldsBytes = 8 * KIB;

const valueTypes = ['string', 'text', 'number', 'boolean', 'id', 'url'] as const;

const nameForm =
  'must be named by a letter and at most 49 more letters, digits and "_", and by no word that every object has';
/** What the language would look up on any object, `constructor` for one, names no field. */
const fieldName = z
  .string()
  .regex(/^[a-zA-Z]\w{0,49}$/)
  .refine((name) => !(name in Object.prototype));

const fieldsUpTo = <Field extends z.ZodType>(max: number, field: Field) =>
  recordUpTo(
    max,
    z.record(fieldName, field, {
      error: ({ code }) => (code === 'invalid_key' ? nameForm : undefined),
    }),
  );

const optional = z.boolean().optional();
const valueField = z.strictObject({
  type: z.enum(valueTypes),
  optional,
  maxLength: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('In characters; of a string 200, of a text 5,000 unless stated'),
  enum: z.array(text(1, 200)).min(1).max(50).optional().describe('The only values of a string'),
});
const typeOrValue = z.union([z.enum(valueTypes), valueField], {
  error: `must be a type (${valueTypes.join(', ')}) or an object such as {"type": "string", "maxLength": 50, "optional": true}`,
});
const listField = z.strictObject({
  type: z.literal('list'),
  optional,
  maxItems: z.int().min(1).max(100).optional().describe('50 unless stated'),
  fields: fieldsUpTo(maxFieldsOfItem, typeOrValue).describe('Of each item'),
});

const field = z.union([z.enum(valueTypes), valueField, listField], {
  error: `must be a type (${valueTypes.join(', ')}), an object such as {"type": "string", "maxLength": 50, "optional": true}, or a list such as {"type": "list", "maxItems": 20, "fields": {"title": "string"}}`,
});

export const mailFields = fieldsUpTo(maxFields, field)
  .refine(
    (fields) => new TextEncoder().encode(JSON.stringify(fields)).length <= maxFieldsBytes,
    `may have at most ${maxFieldsBytes} bytes as JSON`,
  )
  .meta({
    description:
      'string: one line; text: several; number; boolean, for sections; id: letters, digits, _ and -; url: an address of the app; list: of objects',
  });

export type MailFields = z.infer<typeof mailFields>;
export type MailField = MailFields[string];
export type MailValueField = z.infer<typeof typeOrValue>;
