import {
  type AccessPreset,
  type AccessRules,
  accessPresets,
  type CollectionAccess,
  type FieldRules,
  presetRules,
} from '@backlot/contract';
import {
  type CallerKind,
  type Does,
  groupRole,
  hasConditions,
  isGroupRole,
  isWord,
  type RowPolicy,
  type RuleEntry,
  toPolicy,
} from './terms/terms.ts';

export type LimitedPolicy = Exclude<RowPolicy, 'all'>;

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
  notGiven: readonly FieldLimit[];
}

export interface Permissions {
  rights: Rights;
  fields: FieldLimits;
  /** Whether any of it depends on what is in a record. */
  hasConditions: boolean;
}

const freeFields: FieldLimits = { hidden: [], frozen: [], notGiven: [] };
export const fullPermissions: Permissions = {
  rights: { read: 'all', create: 'all', change: 'all', delete: 'all', count: 'all' },
  fields: freeFields,
  hasConditions: false,
};

export interface CompiledAccess {
  access: CollectionAccess;
  rules: AccessRules;
  /** Which words there are in the rules that need more of a record than its owner. */
  uses: { group: boolean; shared: boolean };
  permissionsFor(caller: CallerKind): Permissions;
}

const limited = (field: string, policy: RowPolicy): FieldLimit[] =>
  policy === 'all' ? [] : [{ field, policy }];

const toFieldLimits = (
  fields: Readonly<Record<string, FieldRules>>,
  caller: CallerKind,
): FieldLimits => {
  const entries = Object.entries(fields);
  const limits = (of: (rules: FieldRules) => readonly RuleEntry[] | undefined, does: Does) =>
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
export const countRule = ({ change, count = [] }: AccessRules): RuleEntry[] => [
  ...new Set([...change, ...count]),
];

const toPermissions = (rules: AccessRules, caller: CallerKind): Permissions => {
  const policy = (rule: readonly RuleEntry[]) => toPolicy(rule, caller);
  const read = policy(rules.read);
  // Who may not see a record does not change it.
  const unlessBlind = (rule: readonly RuleEntry[]) =>
    read === 'none' ? 'none' : toPolicy(rule, caller, 'change');
  const rights = {
    read,
    create: policy(rules.create),
    change: unlessBlind(rules.change),
    delete: unlessBlind(rules.delete ?? rules.change),
    count: unlessBlind(countRule(rules)),
  };
  const fields = rules.fields ? toFieldLimits(rules.fields, caller) : freeFields;
  const limits = [...fields.hidden, ...fields.frozen, ...fields.notGiven];
  const policies = [...Object.values(rights), ...limits.map((limit) => limit.policy)];
  return { rights, fields, hasConditions: policies.some(hasConditions) };
};

export const ruleEntries = ({ fields = {}, ...rules }: AccessRules): RuleEntry[] =>
  [rules, ...Object.values(fields)].flatMap((lists) =>
    Object.values(lists).flatMap((entries) => entries ?? []),
  );

/** Kinds of callers whose permissions are kept: users are in groups in many ways. */
const maxKinds = 200;

const compile = (access: CollectionAccess): CompiledAccess => {
  const rules = typeof access === 'string' ? presetRules[access] : access;
  const words = new Set(
    ruleEntries(rules).flatMap((entry) => (isWord(entry) ? [entry] : entry.to)),
  );
  const groupRoles = [...words].filter(isGroupRole).map(groupRole).sort();
  const hasGroups = words.has('group');
  const known = new Map<string, Permissions>();

  /** What the rules don't name makes no difference. */
  const toKind = ({ isUser, isVerified, role = 'user', groups }: CallerKind): string => {
    if (!isUser) return '';
    const parts = [words.has(`role:${role}`) ? `role:${role}` : 'user'];
    if (isVerified && words.has('verified')) parts.push('verified');
    if (groups.length > 0 && hasGroups) parts.push('group');
    for (const role of groupRoles)
      if (groups.some((group) => group.role === role)) parts.push(`group:${role}`);
    return parts.join(' ');
  };

  return {
    access,
    rules,
    uses: { group: hasGroups || groupRoles.length > 0, shared: words.has('shared') },
    permissionsFor(caller) {
      const kind = toKind(caller);
      const found = known.get(kind) ?? toPermissions(rules, caller);
      if (known.size < maxKinds) known.set(kind, found);
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
