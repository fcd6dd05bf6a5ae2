import { z } from 'zod';
import { recordUpTo } from '../schemas.ts';

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

const roles = ['role:[a-z][a-z0-9_-]{0,31}', 'group:[a-z][a-z0-9_-]{0,31}'];
const maxWords = 20;
/** Different ones in the rules of a collection; what a process asks of each record is bounded. */
const maxConditions = 8;
const maxGroupRoles = 8;

/** The first thing that is wrong inside of something, with its place. */
const describeInner = (issue: z.core.$ZodIssue): string => {
  const place = issue.path.map(String).join('.');
  return `${place === '' ? '' : `"${place}" `}${issue.message}`;
};

const conditionForm = '{"to": [words], "where": {filter}}';

const word = (words: readonly string[], otherwise = '') =>
  z
    .string()
    .regex(
      new RegExp(`^(${[...words, ...roles].join('|')})$`),
      `must be one of ${words.join(', ')}, role:<name>, such as role:staff, and group:<role>, such as group:admin${otherwise}`,
    );

const condition = (to: z.ZodString) =>
  z.strictObject({
    to: z.array(to).min(1, 'needs a word').max(maxWords, `takes at most ${maxWords} words`),
    where: z
      .record(z.string(), z.unknown())
      .describe('A filter as lists take it; "$caller.id" and "$caller.role" stand for the caller'),
  });

const entryProblem = (issue: z.core.$ZodRawIssue): string => {
  const [, ofCondition] = issue.code === 'invalid_union' ? (issue.errors ?? []) : [];
  const isObject = typeof issue.input === 'object' && issue.input !== null;
  const [first] = (isObject && ofCondition) || [];
  return first ? describeInner(first) : `must be a word, or ${conditionForm}`;
};

const wordList = (words: readonly string[]) =>
  z
    .array(
      z.union([word(words, `, or ${conditionForm}`), condition(word(words))], {
        error: entryProblem,
      }),
    )
    .max(maxWords, `takes at most ${maxWords} words`);

/** What stands in a list of the rules. */
export const ruleEntry = z.union([z.string(), condition(z.string())]);

/** Of a record that is there. */
const words = wordList(['anyone', 'users', 'verified', 'owner', 'ownerless', 'group', 'shared']);
/** Of a record that is not there yet, and so has no owner. */
const wordsForNew = wordList(['anyone', 'users', 'verified', 'group']);

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

/** In all lists. */
const countDifferent = (
  { fields = {}, ...lists }: Record<string, unknown> & { fields?: object | undefined },
  toKeys: (entry: RuleEntry) => string[],
): number => {
  const all = [lists, ...Object.values(fields)].flatMap((named) => Object.values(named).flat());
  return new Set((all as RuleEntry[]).flatMap(toKeys)).size;
};

const groupWords = (entry: RuleEntry) =>
  (typeof entry === 'string' ? [entry] : entry.to).filter((word) => word.startsWith('group:'));

const maxFields = 50;
/** As JSON: what a process keeps of each collection is bounded. */
const maxRulesBytes = 4096;

const accessRules = z
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
  .refine(
    (rules) =>
      countDifferent(rules, (entry) =>
        typeof entry === 'string' ? [] : [JSON.stringify(entry)],
      ) <= maxConditions,
    `may have at most ${maxConditions} different "where"`,
  )
  .refine(
    (rules) => countDifferent(rules, groupWords) <= maxGroupRoles,
    `may name at most ${maxGroupRoles} roles in groups`,
  )
  .meta({
    id: 'AccessRules',
    description:
      'Who may do what; an empty list: nobody but the owner and keys. anyone; users: who is signed in; verified: users whose address is verified; role:<name>: users to whom the owner gave it; owner: who made the record; ownerless: everybody, where nobody signed in made it; group: members of the record’s group; group:<role>: those who have this role in it; shared: with whom it is shared; {to, where}: these, where the record passes the filter, for a change before and after it.',
  });
export type AccessRules = z.infer<typeof accessRules>;

/** What a preset stands for: docs/api.md, "Access". */
export const presetRules: Readonly<Record<AccessPreset, AccessRules>> = {
  shared: { read: ['anyone'], create: ['anyone'], change: ['owner', 'ownerless'] },
  'public-read': { read: ['anyone'], create: ['users'], change: ['owner'] },
  members: { read: ['users'], create: ['users'], change: ['owner'] },
  private: { read: ['owner'], create: ['users'], change: ['owner'] },
  'append-only': { read: [], create: ['anyone'], change: [] },
  locked: { read: [], create: [], change: [] },
  catalog: { read: ['anyone'], create: ['role:staff'], change: ['role:staff'] },
  inbox: { read: ['role:staff'], create: ['anyone'], change: [] },
  team: { read: ['group'], create: ['group'], change: ['group'] },
};
export type FieldRules = z.infer<typeof fieldRules>;
export type RuleEntry = z.infer<typeof ruleEntry>;

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
