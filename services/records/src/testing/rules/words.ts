import type { AccessRules } from '@backlot/contract';
import type { Identity } from '@backlot/identity';

/** A text is the id of a record of the other collection. */
export type Value = number | string;
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
const isOwn = ({ caller }: Identity) => caller === 'key';
const holds = (word: string, who: Identity, record: Stored, does: Does): boolean => {
  const isUser = who.caller === 'user';
  switch (word) {
    case 'anyone':
      return true;
    case 'users':
      return isUser;
    case 'owner':
      return isUser && record.ownerId === who.userId;
    case 'ownerless':
      return record.ownerId === null;
    case 'group':
      return (who.groups ?? []).some(({ id }) => id === record.groupId);
    case 'shared':
      return record.shares.some(
        ({ userId, may }) =>
          isUser && userId === who.userId && (does === 'read' || may === 'change'),
      );
    default:
      return isUser && word === `role:${who.role ?? 'user'}`;
  }
};
export const allows = (
  words: readonly string[] | undefined,
  who: Identity,
  record: Stored,
  does: Does = 'change',
) => isOwn(who) || words === undefined || words.some((word) => holds(word, who, record, does));

/** Whether there could be a record for which a word holds. */
export const couldAllow = (words: readonly string[] | undefined, who: Identity): boolean => {
  const mine = { ownerId: who.userId, groupId: who.groups?.[0]?.id ?? 'none' };
  const shares = [{ userId: who.userId ?? '', may: 'change' as const }];
  const isUser = who.caller === 'user';
  const friendly = { id: '', data: {}, ...mine, shares: isUser ? shares : [] };
  return allows(words, who, friendly) || allows(words, who, { ...friendly, ownerId: null });
};

export const canRead = (rules: AccessRules, who: Identity, record: Stored) =>
  allows(rules.read, who, record, 'read');
export type Action = 'read' | 'change' | 'delete' | 'count';
export const ruleFor = (rules: AccessRules, action: Action): readonly string[] =>
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

/** Whether a word stands anywhere in the rules. */
export const uses = ({ fields = {}, ...lists }: AccessRules, word: string): boolean =>
  [lists, ...Object.values(fields)].some((named) =>
    Object.values(named).some((words) => words?.includes(word)),
  );
