import { z } from 'zod';
import { recordUpTo } from './schemas.ts';

/** docs/api.md, "Access". Names of rules. */
export const accessPresets = [
  'shared',
  'public-read',
  'members',
  'private',
  'append-only',
  'locked',
  'catalog',
  'inbox',
  'team',
] as const;
export type AccessPreset = (typeof accessPresets)[number];

const role = 'role:[a-z][a-z0-9_-]{0,31}';
const roleExample = 'role:<name>, such as role:staff';
const wordList = (words: readonly string[]) =>
  z
    .array(
      z
        .string()
        .regex(
          new RegExp(`^(${[...words, role].join('|')})$`),
          `must be one of ${words.join(', ')} and ${roleExample}`,
        ),
    )
    .max(20, 'takes at most 20 words');

/** Of a record that is there. */
const words = wordList(['anyone', 'users', 'owner', 'ownerless', 'group', 'shared']);
/** Of a record that is not there yet, and so has no owner. */
const wordsForNew = wordList(['anyone', 'users', 'group']);

const systemFields = ['id', 'ownerId', 'createdAt', 'updatedAt'];
const fieldName = z
  .string()
  .min(1)
  .max(100)
  .refine(
    (name) => !/^\$|[.\0]|^__proto__$/.test(name) && name.isWellFormed(),
    'names a field at the top of the data, without "." and "$"',
  )
  .refine((name) => !systemFields.includes(name), 'can not be one of the record’s own fields');

const fieldRules = z
  .strictObject({
    read: words.optional().describe('Who sees it; everybody who sees the record unless stated'),
    create: wordsForNew
      .optional()
      .describe('Who may give it in a new record; as `change` unless stated'),
    change: words
      .optional()
      .describe('Who may change it; everybody who may change the record unless stated'),
  })
  .refine((rules) => Object.keys(rules).length > 0, 'needs "read", "create" or "change"');

const maxFields = 50;
/** As JSON: what a process keeps of each collection is bounded. */
const maxRulesBytes = 4096;

export const accessRules = z
  .strictObject({
    read: words,
    create: wordsForNew,
    change: words,
    delete: words.optional().describe('As `change` unless stated'),
    count: words
      .optional()
      .describe('Who, beside those in `change`, may add to numbers by a PATCH with `inc` alone'),
    fields: recordUpTo(maxFields, z.record(fieldName, fieldRules)).optional(),
  })
  .refine(
    (rules) => Buffer.byteLength(JSON.stringify(rules)) <= maxRulesBytes,
    `may have at most ${maxRulesBytes} bytes as JSON`,
  )
  .meta({
    id: 'AccessRules',
    description:
      'Who may do what; an empty list: nobody but the owner and keys. anyone; users: who is signed in; role:<name>: users to whom the owner gave it; owner: who made the record; ownerless: everybody, where nobody signed in made it; group: members of the record’s group; shared: with whom it is shared.',
  });
export type AccessRules = z.infer<typeof accessRules>;
export type FieldRules = z.infer<typeof fieldRules>;

/** The first thing that is wrong inside of rules, with its place. */
const describe = (issue: z.core.$ZodIssue): string => {
  const place = issue.path.map(String).join('.');
  const [inKey] = issue.code === 'invalid_key' ? issue.issues : [];
  return `is wrong${place === '' ? '' : ` at "${place}"`}: ${inKey?.message ?? issue.message}`;
};

const accessProblem = (issue: z.core.$ZodRawIssue): string => {
  const ofRules = issue.code === 'invalid_union' ? issue.errors?.at(1)?.at(0) : undefined;
  if (typeof issue.input === 'object' && issue.input !== null && ofRules) return describe(ofRules);
  return `must be one of ${accessPresets.join(', ')}, or rules such as {"read":["users"],"create":["users"],"change":["owner","role:staff"]}`;
};

/** The name of a preset, or rules. */
export const collectionAccess = z
  .union([z.enum(accessPresets), accessRules], {
    error: accessProblem,
  })
  .meta({
    id: 'CollectionAccess',
    description:
      'Rules, or the name of some. shared (unless set): anyone reads and creates, owners change. public-read: anyone reads, users create, owners change. members: users read and create, owners change. private: users create, owners read and change. append-only: anyone creates. locked: nobody. catalog: anyone reads, role:staff writes. inbox: anyone creates, role:staff reads. team: members of the record’s group do all.',
  });
export type CollectionAccess = z.infer<typeof collectionAccess>;
