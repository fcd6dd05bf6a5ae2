import type { RuleEntry } from '@backlot/contract';
import type { GroupMembership } from '@backlot/identity';
import { type Filter, fieldsIn } from '../../where/filter.ts';
import { type CallerValues, parseRuleFilter, usesCaller } from '../../where/rule-filter.ts';

export type { RuleEntry };

/** Words whose meaning depends on the record. A share is for reading alone or to change too. */
export const recordWords = ['ownerless', 'owner', 'group', 'shared', 'sharedToChange'] as const;
export type RecordWord = (typeof recordWords)[number];

/** The same, and members of the record's group who have this role in it. */
export type Word = RecordWord | `group:${string}`;

/** Words that hold where the record passes a filter. */
export interface Condition {
  to: 'all' | readonly Word[];
  where: Filter;
  /** The filter as it was set. */
  text: string;
}

/** What has to hold for a record. */
export type Term = Word | Condition;

/** Which records a caller may see or change: those for which one of the terms holds. */
export type RowPolicy = 'all' | 'none' | readonly Term[];

/** What a share is for. */
export type Does = 'read' | 'change';

/** What decides of a caller which words hold for them. */
export interface CallerKind {
  isUser: boolean;
  isVerified?: boolean | undefined;
  role?: string | undefined;
  groups: readonly Pick<GroupMembership, 'role'>[];
}

/** Of whom the values of a statement are. */
export interface Caller extends CallerValues {
  groups: readonly GroupMembership[];
  /** Of their groups; of those in which they have the role. */
  groupIds: readonly string[];
  groupIdsWith(role: string): readonly string[];
  /** Stands for all of them, in a statement that is kept. */
  isAnyone?: true;
  /** Has the user's id, in a statement for several callers. */
  userColumn?: string;
}

const groupPrefix = 'group:';
export const isGroupRole = (word: string): word is `group:${string}` =>
  word.startsWith(groupPrefix);
export const groupRole = (word: `group:${string}`): string => word.slice(groupPrefix.length);

/** Terms with the same key hold for the same records, for one caller. */
export const termKey = (term: Term): string =>
  typeof term === 'string' ? term : `${term.to} ${term.text}`;

export const policyKey = (policy: RowPolicy): string =>
  typeof policy === 'string' ? policy : JSON.stringify(policy.map(termKey));

export const hasConditions = (policy: RowPolicy): boolean =>
  typeof policy !== 'string' && policy.some((term) => typeof term !== 'string');

/** A deleted account's id stays in its records: they are somebody's, whom nobody is any more. */
const toWords = (
  words: readonly string[],
  { isUser, isVerified = false, role = 'user', groups }: CallerKind,
  does: Does,
): 'all' | readonly Word[] => {
  const has = (word: string) => words.includes(word);
  if (has('anyone')) return 'all';
  if (isUser && (has('users') || has(`role:${role}`) || (isVerified && has('verified'))))
    return 'all';
  const isMember = has('group') && groups.length > 0;
  const holds: Record<RecordWord, boolean> = {
    ownerless: has('ownerless'),
    owner: has('owner') && isUser,
    group: isMember,
    shared: has('shared') && isUser && does === 'read',
    sharedToChange: has('shared') && isUser && does === 'change',
  };
  const ofRoles = isMember
    ? []
    : words
        .filter(isGroupRole)
        .filter((word) => groups.some((group) => group.role === groupRole(word)));
  return [...recordWords.filter((word) => holds[word]), ...new Set(ofRoles)];
};

/** Kept as long as the rules are. */
const filters = new WeakMap<object, { filter: Filter | undefined }>();

/** Undefined where this release can not read it. */
export const ruleFilter = (where: object): Filter | undefined => {
  const known = filters.get(where);
  if (known) return known.filter;
  let filter: Filter | undefined;
  try {
    filter = parseRuleFilter(where);
  } catch {
    // What was stored by another release admits nobody.
  }
  filters.set(where, { filter });
  return filter;
};

const toCondition = (
  entry: Exclude<RuleEntry, string>,
  caller: CallerKind,
  does: Does,
): Condition[] => {
  const to = toWords(entry.to, caller, does);
  const where = ruleFilter(entry.where);
  // Nobody is meant by what asks for somebody: null would equal what is missing.
  if (!where || to.length === 0 || (usesCaller(where) && !caller.isUser)) return [];
  return [{ to, where, text: JSON.stringify(entry.where) }];
};

export const isWord = (entry: RuleEntry): entry is string => typeof entry === 'string';

export const toPolicy = (
  rule: readonly RuleEntry[],
  caller: CallerKind,
  does: Does = 'read',
): RowPolicy => {
  const words = toWords(rule.filter(isWord), caller, does);
  if (words === 'all') return 'all';
  const conditions = rule.flatMap((entry) =>
    isWord(entry) ? [] : toCondition(entry, caller, does),
  );
  const policy = [...words, ...conditions];
  return policy.length === 0 ? 'none' : policy;
};

/** The fields of which a policy asks; one may come more than once. */
export const conditionFields = (policy: RowPolicy): string[] =>
  typeof policy === 'string'
    ? []
    : policy.flatMap((term) => (typeof term === 'string' ? [] : fieldsIn(term.where)));

/** All the terms of policies, each once; the usual words first, in their order. */
export const termsIn = (policies: readonly RowPolicy[]): Term[] => {
  const all = policies.flatMap((policy) => (typeof policy === 'string' ? [] : policy));
  const known = new Set(all.filter((term) => typeof term === 'string'));
  const others = all.filter((term) => !(recordWords as readonly unknown[]).includes(term));
  return [
    ...recordWords.filter((word) => known.has(word)),
    ...new Map(others.map((term) => [termKey(term), term])).values(),
  ];
};

const withoutShares = (words: readonly Word[]) => words.filter((word) => word !== 'shared');

/** Without what others share: that is nobody's to hand on. */
export const heldPolicy = (policy: RowPolicy): RowPolicy => {
  if (typeof policy === 'string') return policy;
  const held = policy.flatMap((term): Term[] => {
    if (typeof term === 'string') return withoutShares([term]);
    if (term.to === 'all') return [term];
    const to = withoutShares(term.to);
    return to.length === 0 ? [] : [{ ...term, to }];
  });
  return held.length === 0 ? 'none' : held;
};

const asRead = <T extends Term>(term: T): T | 'shared' =>
  term === 'sharedToChange' ? 'shared' : term;

/** Whether one admits to all that the other does. */
export const covers = (wide: RowPolicy, narrow: RowPolicy): boolean => {
  if (wide === 'all' || narrow === 'none') return true;
  if (wide === 'none' || narrow === 'all') return false;
  const keys = new Set(wide.map(termKey));
  const hasWord = (word: Word) =>
    keys.has(asRead(word)) || (isGroupRole(word) && keys.has('group'));
  return narrow.every((term) => {
    if (typeof term === 'string') return hasWord(term);
    const { to } = term;
    const asWide = to === 'all' ? term : { ...term, to: to.map(asRead) };
    return keys.has(termKey(asWide)) || (to !== 'all' && to.every(hasWord));
  });
};
