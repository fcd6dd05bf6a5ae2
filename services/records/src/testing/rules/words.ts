import type { AccessRules, RuleEntry } from '@backlot/contract';
import type { Identity } from '@backlot/identity';

/** A text is the id of a record of the other collection. */
export type Scalar = number | string;
/** Only the field `state` has lists, and `at` objects. */
export type Value = Scalar | readonly Scalar[] | { readonly [name: string]: Scalar };
export type Data = Record<string, Value>;
export type Does = 'read' | 'change';

/** With a user, or with an address: `userId` is then who has shown that it is theirs. */
export type StoredShare = { userId: string | null; email?: string; may: Does };

export interface Stored {
  id: string;
  ownerId: string | null;
  groupId: string | null;
  shares: StoredShare[];
  data: Data;
}

/** The rules in a few lines, as docs/api.md has them. */
type Rule = readonly RuleEntry[];
const isOwn = ({ caller }: Identity) => caller === 'key';
const wordHolds = (word: string, who: Identity, record: Stored, does: Does): boolean => {
  const isUser = who.caller === 'user';
  const ofGroup = (who.groups ?? []).filter(({ id }) => id === record.groupId);
  switch (word) {
    case 'anyone':
      return true;
    case 'users':
      return isUser;
    case 'verified':
      return isUser && who.emailVerified === true;
    case 'owner':
      return isUser && record.ownerId === who.userId;
    case 'ownerless':
      return record.ownerId === null;
    case 'group':
      return ofGroup.length > 0;
    case 'shared':
      return record.shares.some(
        ({ userId, may }) =>
          isUser && userId === who.userId && (does === 'read' || may === 'change'),
      );
    default:
      return word.startsWith('group:')
        ? ofGroup.some(({ role }) => word === `group:${role}`)
        : isUser && word === `role:${who.role ?? 'user'}`;
  }
};

const asksWho = (where: unknown) => JSON.stringify(where).includes('"$caller.');

const passes = (where: object, who: Identity, record: Stored): boolean =>
  Object.entries(where).every(([field, test]) => {
    if (field === '$or') return test.some((part: object) => passes(part, who, record));
    const value = (field === 'ownerId' ? record.ownerId : record.data[field]) ?? null;
    const operand = (given: unknown) => {
      if (given === '$caller.id') return who.userId;
      return given === '$caller.role' ? (who.role ?? 'user') : given;
    };
    const isOrHas = (one: unknown) =>
      value === operand(one) ||
      (Array.isArray(value) && value.some((item) => item === operand(one)));
    const equals = (one: unknown) => (operand(one) === one ? value === one : isOrHas(one));
    if (typeof test !== 'object' || test === null) return equals(test);
    const { $gt, $exists, $ne, $in, $all } = test;
    if ($gt !== undefined) return typeof value === 'number' && value > $gt;
    if ($exists !== undefined) return (record.data[field] !== undefined) === $exists;
    if ($in !== undefined) return $in.some(equals);
    if ($all !== undefined) return $all.every(isOrHas);
    return !isOrHas($ne);
  });

const holds = (entry: RuleEntry, who: Identity, record: Stored, does: Does): boolean => {
  if (typeof entry === 'string') return wordHolds(entry, who, record, does);
  const { to, where } = entry;
  if (asksWho(where) && who.caller !== 'user') return false;
  return to.some((word) => wordHolds(word, who, record, does)) && passes(where, who, record);
};
export const allows = (
  rule: Rule | undefined,
  who: Identity,
  record: Stored,
  does: Does = 'change',
) => isOwn(who) || rule === undefined || rule.some((entry) => holds(entry, who, record, does));

/** Whether it admits to every record, whatever is in it. */
export const alwaysAllows = (rule: Rule | undefined, who: Identity): boolean => {
  const strangers = { id: '', ownerId: '', groupId: null, shares: [], data: {} };
  return allows(
    rule?.filter((entry) => typeof entry === 'string'),
    who,
    strangers,
  );
};

/** Whether what is in a record decides, too. */
export const isConditional = (rule: Rule | undefined, who: Identity): boolean =>
  !alwaysAllows(rule, who) &&
  (rule ?? []).some((entry) => typeof entry !== 'string' && couldAllow([entry], who));

/** The words that could hold for somebody like them, if a record were such. */
const possibleWords = (rule: Rule | undefined, who: Identity) =>
  rule?.flatMap((entry) => {
    if (typeof entry === 'string') return [entry];
    return asksWho(entry.where) && who.caller !== 'user' ? [] : entry.to;
  });

/** Whether there could be a record for which a word holds. */
export const couldAllow = (rule: Rule | undefined, who: Identity): boolean => {
  const isUser = who.caller === 'user';
  const shares = isUser ? [{ userId: who.userId ?? '', may: 'change' as const }] : [];
  const friendly = [who.userId, null].flatMap((ownerId) =>
    ['none', ...(who.groups ?? []).map(({ id }) => id)].map((groupId) => ({
      id: '',
      data: {},
      ownerId,
      groupId,
      shares,
    })),
  );
  return friendly.some((record) => allows(possibleWords(rule, who), who, record));
};

export const canRead = (rules: AccessRules, who: Identity, record: Stored) =>
  allows(rules.read, who, record, 'read');
export type Action = 'read' | 'change' | 'delete' | 'count';
export const ruleFor = (rules: AccessRules, action: Action): Rule =>
  action === 'count' ? [...rules.change, ...(rules.count ?? [])] : (rules[action] ?? rules.change);
export const can = (
  rules: AccessRules,
  action: Exclude<Action, 'read'>,
  who: Identity,
  record: Stored,
) => canRead(rules, who, record) && allows(ruleFor(rules, action), who, record);
export const sees = (rules: AccessRules, who: Identity, record: Stored, field: string) =>
  allows(rules.fields?.[field]?.read, who, record, 'read');
export const changes = (rules: AccessRules, who: Identity, record: Stored, field: string) =>
  sees(rules, who, record, field) && allows(rules.fields?.[field]?.change, who, record);
export const seen = (rules: AccessRules, who: Identity, record: Stored): Data =>
  Object.fromEntries(
    Object.entries(record.data).filter(([field]) => sees(rules, who, record, field)),
  );

/** Whether a word stands anywhere in the rules: of groups with a role or without. */
export const uses = ({ fields = {}, ...lists }: AccessRules, word: 'group' | 'shared'): boolean =>
  [lists, ...Object.values(fields)].some((named) =>
    Object.values(named).some((rule: Rule | undefined) =>
      rule
        ?.flatMap((entry) => (typeof entry === 'string' ? [entry] : entry.to))
        .some((used) => used === word || used.startsWith(`${word}:`)),
    ),
  );
