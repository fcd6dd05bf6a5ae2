import {
  type AccessPreset,
  type AccessRules,
  accessPresets,
  type CollectionAccess,
  type FieldRules,
} from '@backlot/contract';

/** Words whose meaning depends on the record. A share is for reading alone or to change too. */
export const recordWords = ['ownerless', 'owner', 'group', 'shared', 'sharedToChange'] as const;
export type RecordWord = (typeof recordWords)[number];

/** Which records a caller may see or change: those for which one of the words holds, in this order. */
export type RowPolicy = 'all' | 'none' | readonly RecordWord[];
export type LimitedPolicy = Exclude<RowPolicy, 'all'>;

/** What a share is for. */
export type Does = 'read' | 'change';

export interface Rights {
  read: RowPolicy;
  create: RowPolicy;
  change: RowPolicy;
  delete: RowPolicy;
  /** Adding to numbers that are there: whoever may change, and more. */
  count: RowPolicy;
}

/** A field that is not free in every record. */
export interface FieldLimit {
  field: string;
  policy: LimitedPolicy;
}

/** What a caller may do with fields; those that are not named are free. */
export interface FieldLimits {
  hidden: readonly FieldLimit[];
  frozen: readonly FieldLimit[];
  /** What a new record may not have. */
  notGiven: readonly FieldLimit[];
}

/** What one kind of caller may do in a collection. */
export interface Permissions {
  rights: Rights;
  fields: FieldLimits;
}

/** What decides of a caller which words hold for them. */
export interface CallerKind {
  isUser: boolean;
  role?: string | undefined;
  /** Whether they are in any group. */
  hasGroups: boolean;
}

export const freeFields: FieldLimits = { hidden: [], frozen: [], notGiven: [] };
export const fullPermissions: Permissions = {
  rights: { read: 'all', create: 'all', change: 'all', delete: 'all', count: 'all' },
  fields: freeFields,
};

/** docs/api.md, "Access". */
const presets: Record<AccessPreset, AccessRules> = {
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

/** The access of a collection, ready to be asked. */
export interface CompiledAccess {
  /** As it was set. */
  access: CollectionAccess;
  rules: AccessRules;
  /** Which words there are in the rules that need more of a record than its owner. */
  uses: { group: boolean; shared: boolean };
  permissionsFor(caller: CallerKind): Permissions;
}

/** A deleted account's id stays in its records: they are somebody's, whom nobody is any more. */
export const toPolicy = (
  words: readonly string[],
  { isUser, role = 'user', hasGroups }: CallerKind,
  does: Does = 'read',
): RowPolicy => {
  const has = (word: string) => words.includes(word);
  if (has('anyone')) return 'all';
  if (isUser && (has('users') || has(`role:${role}`))) return 'all';
  const holds: Record<RecordWord, boolean> = {
    ownerless: has('ownerless'),
    owner: has('owner') && isUser,
    group: has('group') && hasGroups,
    shared: has('shared') && isUser && does === 'read',
    sharedToChange: has('shared') && isUser && does === 'change',
  };
  const policy = recordWords.filter((word) => holds[word]);
  return policy.length === 0 ? 'none' : policy;
};

const limited = (field: string, policy: RowPolicy): FieldLimit[] =>
  policy === 'all' ? [] : [{ field, policy }];

const toFieldLimits = (
  fields: Readonly<Record<string, FieldRules>>,
  caller: CallerKind,
): FieldLimits => {
  const entries = Object.entries(fields);
  const limits = (of: (rules: FieldRules) => readonly string[] | undefined, does: Does) =>
    entries.flatMap(([field, rules]) =>
      limited(field, toPolicy(of(rules) ?? ['anyone'], caller, does)),
    );
  return {
    hidden: limits(({ read }) => read, 'read'),
    frozen: limits(({ change }) => change, 'change'),
    notGiven: limits(({ create, change }) => create ?? change, 'change'),
  };
};

/** Who may change may count too. */
export const countWords = ({ change, count = [] }: AccessRules): string[] => [
  ...new Set([...change, ...count]),
];

const toPermissions = (rules: AccessRules, caller: CallerKind): Permissions => {
  const policy = (words: readonly string[]) => toPolicy(words, caller);
  const read = policy(rules.read);
  // Who may not see a record does not change it.
  const unlessBlind = (words: readonly string[]) =>
    read === 'none' ? 'none' : toPolicy(words, caller, 'change');
  return {
    rights: {
      read,
      create: policy(rules.create),
      change: unlessBlind(rules.change),
      delete: unlessBlind(rules.delete ?? rules.change),
      count: unlessBlind(countWords(rules)),
    },
    fields: rules.fields ? toFieldLimits(rules.fields, caller) : freeFields,
  };
};

const listWords = ({ fields = {}, ...rules }: AccessRules): string[] =>
  [rules, ...Object.values(fields)].flatMap((lists) =>
    Object.values(lists).flatMap((words) => words ?? []),
  );

const compile = (access: CollectionAccess): CompiledAccess => {
  const rules = typeof access === 'string' ? presets[access] : access;
  const words = new Set(listWords(rules));
  const known = new Map<string, Permissions>();
  return {
    access,
    rules,
    uses: { group: words.has('group'), shared: words.has('shared') },
    permissionsFor(caller) {
      const { isUser, role = 'user', hasGroups } = caller;
      // What the rules don't name makes no difference.
      const named = words.has(`role:${role}`) ? role : '';
      const kind = isUser ? `${hasGroups && words.has('group') ? 'group' : 'user'} ${named}` : '';
      const found = known.get(kind) ?? toPermissions(rules, caller);
      known.set(kind, found);
      return found;
    },
  };
};

const compiledPresets = new Map<string, CompiledAccess>(
  accessPresets.map((preset) => [preset, compile(preset)]),
);
/** Kept as long as the rules are, which is with their collection. */
const compiledRules = new WeakMap<AccessRules, CompiledAccess>();

export const compileAccess = (access: CollectionAccess): CompiledAccess => {
  const known =
    typeof access === 'string' ? compiledPresets.get(access) : compiledRules.get(access);
  if (known) return known;
  const compiled = compile(access);
  if (typeof access !== 'string') compiledRules.set(access, compiled);
  return compiled;
};

/** As a column keeps it: the name of a preset, or rules as JSON. */
export const formatAccess = (access: CollectionAccess): string =>
  typeof access === 'string' ? access : JSON.stringify(access);

export const parseAccess = (stored: string): CollectionAccess =>
  stored.startsWith('{') ? (JSON.parse(stored) as AccessRules) : (stored as AccessPreset);
