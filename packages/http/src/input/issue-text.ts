import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

const article: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  file: 'a file',
  null: 'null',
};
const formats: Record<string, string> = {
  email: 'an e-mail address',
  uuid: 'a UUID',
  guid: 'a UUID',
  url: 'an absolute address, such as https://example.org',
  datetime: 'a date in ISO 8601, such as "2026-01-31T09:30:00Z"',
};
const units: Record<string, readonly [string, string]> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  set: ['item', 'items'],
  map: ['key', 'keys'],
};

const describeCount = (bound: number | bigint, [one, many]: readonly [string, string]) =>
  `${bound} ${Number(bound) === 1 ? one : many}`;

const tooSmall = ({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall) => {
  const unit = units[origin];
  if (unit && Number(minimum) === 1 && origin === 'string') return 'must not be empty';
  if (unit) return `needs at least ${describeCount(minimum, unit)}`;
  return inclusive === false ? `must be more than ${minimum}` : `must be ${minimum} or more`;
};

const tooBig = ({ origin, maximum, inclusive }: z.core.$ZodIssueTooBig) => {
  const unit = units[origin];
  if (unit) return `may have at most ${describeCount(maximum, unit)}`;
  return inclusive === false ? `must be less than ${maximum}` : `must be ${maximum} or less`;
};

const listed = (values: readonly unknown[]) => {
  const texts = values.filter((value) => value !== '').map((value) => JSON.stringify(value));
  return texts.length === 1 ? texts[0] : `one of ${texts.join(', ')}`;
};

const withArticle = (type: string) => article[type] ?? `of the type ${type}`;

const listNames = (fields: readonly (readonly [string, z.core.$ZodType])[]) =>
  fields.map(([name]) => JSON.stringify(name)).join(', ');

/** `an object with "email", "password" and perhaps "name"`, as far as the schema says. */
export const describeObject = (schema: z.core.$ZodType | undefined): string => {
  const def = schema?._zod.def as z.core.$ZodObjectDef | undefined;
  const fields = Object.entries(def?.type === 'object' ? def.shape : {});
  if (fields.length === 0) return 'an object';
  const isOptional = ([, field]: (typeof fields)[number]) => field._zod.optin !== undefined;
  const optional = listNames(fields.filter(isOptional));
  const required = listNames(fields.filter((field) => !isOptional(field)));
  if (required === '') return `an object with any of ${optional}`;
  return `an object with ${required}${optional && ` and perhaps ${optional}`}`;
};

const unionText = ({ errors }: z.core.$ZodIssueInvalidUnion) => {
  const types = errors.flatMap(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 ? [withArticle(first.expected)] : [],
  );
  return types.length > 0 ? `must be ${[...new Set(types)].join(' or ')}` : 'has a wrong form';
};

/**
 * What is wrong with a field, to be read after its name: `needs at least 8 characters`. For zod's
 * `error`; the words that a schema states for itself win.
 */
export const issueText = (issue: Issue): string => {
  if (issue.input === undefined && issue.code !== 'custom') return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${issue.expected === 'object' ? describeObject(issue.inst as z.core.$ZodType) : withArticle(issue.expected)}`;
    case 'too_small':
      return tooSmall(issue as z.core.$ZodIssueTooSmall);
    case 'too_big':
      return tooBig(issue as z.core.$ZodIssueTooBig);
    case 'invalid_format':
      return `must be ${formats[issue.format] ?? 'of another form'}`;
    case 'invalid_value':
      return `must be ${listed(issue.values)}`;
    case 'invalid_union':
      return unionText(issue as z.core.$ZodIssueInvalidUnion);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `may not have ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    default:
      return 'is not valid';
  }
};

/** Such a text goes on from the name of what it is about. */
const isPredicate = /^(must|may|needs|is|has) /;

/** `"password" needs at least 8 characters`; the whole input is called `whole`. */
export const issueSentence = (
  { path, message }: Pick<z.core.$ZodIssue, 'path' | 'message'>,
  whole: string,
): string => {
  const field = path.map(String).join('.');
  if (field === '') return isPredicate.test(message) ? `${whole} ${message}` : message;
  return isPredicate.test(message) ? `"${field}" ${message}` : `"${field}": ${message}`;
};
