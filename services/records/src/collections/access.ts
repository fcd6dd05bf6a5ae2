import { ApiError, type CollectionAccess } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { and, type Parameters } from '../sql.ts';
import {
  type CompiledAccess,
  compileAccess,
  countWords,
  type FieldLimits,
  fullPermissions,
  type Permissions,
  type RecordWord,
  type Rights,
  type RowPolicy,
} from './rules.ts';

/** What one caller may do in a collection. */
export interface Access {
  /** The user of this project who calls; null for everybody else. */
  userId: string | null;
  /** Of their groups. */
  groupIds: readonly string[];
  rights: Rights;
  fields: FieldLimits;
  /** Both of these, as all callers of this kind have them. */
  permissions: Permissions;
  /** Stands for all of them, in a statement that is kept. */
  isAnyone?: true;
  /** Has the user's id, in a statement for several callers. */
  userColumn?: string;
  /** The rules behind it. */
  compiled: CompiledAccess;
}

/** What is done with a record that is there; `count` adds to numbers and does nothing else. */
export type WriteAction = 'change' | 'delete' | 'count';

/** What a rule is about, as an error names it. */
export interface Place {
  project: { id: string };
  collection: { name: string };
}

/** What of a caller decides what rules allow them. */
type Asker = Pick<Identity, 'caller' | 'userId' | 'role' | 'groups'>;

/** The owner of the project, its secret keys and the operator are bound by no rule. */
export const bypassesRules = ({ caller }: Pick<Asker, 'caller'>): boolean =>
  caller === 'owner' || caller === 'key' || caller === 'operator';

const noGroups: readonly string[] = [];

/** Of those whom no rule binds. */
export const fullAccess = (access: CollectionAccess): Access => ({
  userId: null,
  groupIds: noGroups,
  ...fullPermissions,
  permissions: fullPermissions,
  compiled: compileAccess(access),
});

export const resolveAccess = (access: CollectionAccess, identity: Asker): Access => {
  if (bypassesRules(identity)) return fullAccess(access);
  const compiled = compileAccess(access);
  const userId = identity.caller === 'user' ? identity.userId : null;
  const { role, groups } = identity;
  const groupIds = userId !== null && groups ? groups.map(({ id }) => id) : noGroups;
  const kind = { isUser: userId !== null, role, hasGroups: groupIds.length > 0 };
  const permissions = compiled.permissionsFor(kind);
  const { rights, fields } = permissions;
  return { userId, groupIds, rights, fields, permissions, compiled };
};

const signInFirst = () =>
  new ApiError(
    'unauthenticated',
    'Sign in first: send a token as "Authorization: Bearer <token>".',
  );
export const recordNotFound = (hint?: string) =>
  new ApiError('not_found', 'There is no such record.', hint === undefined ? {} : { hint });

const listed = (words: readonly string[]) =>
  words.length === 0 ? 'nobody but the project’s owner and its keys' : words.join(', ');

const wordsFor = (rules: CompiledAccess['rules'], action: WriteAction): readonly string[] => {
  switch (action) {
    case 'change':
      return rules.change;
    case 'delete':
      return rules.delete ?? rules.change;
    case 'count':
      return countWords(rules);
  }
};

/** What the collection's rule says, and who can change it. */
export const ruleHint = (
  { compiled: { access, rules } }: Access,
  { project, collection }: Place,
  action: 'create' | WriteAction,
): string => {
  const words = action === 'create' ? rules.create : wordsFor(rules, action);
  const counting =
    action === 'change' && rules.count
      ? ` By the rule for "count" (${listed(rules.count)}) a PATCH with "inc" alone may add to numbers.`
      : '';
  const kind = typeof access === 'string' ? ` (the preset "${access}")` : '';
  return (
    `In "${collection.name}"${kind} the rule for "${action}" is: ${listed(words)}.${counting} The project’s owner sets rules by ` +
    `PUT /api/platform/projects/${project.id}/collections/${collection.name} {"access": …}; a role is given to a user by ` +
    `PATCH /api/platform/projects/${project.id}/users/<id> {"role": "staff"}.`
  );
};

/** docs/api.md, "Access": anonymous callers get 401, signed-in ones 403. */
export const changeForbidden = (access: Access, place: Place, action: WriteAction): ApiError =>
  access.userId === null
    ? signInFirst()
    : new ApiError(
        'forbidden',
        `You may not ${action === 'count' ? 'add to numbers of' : action} this record.`,
        {
          hint: ruleHint(access, place, action),
        },
      );

/** Who may only count adds to what is there, so that strangers don't fill records with fields. */
export const countForbidden = (access: Access, field: string, place: Place): ApiError =>
  access.userId === null
    ? new ApiError('unauthenticated', uncountable(field))
    : new ApiError('forbidden', uncountable(field), { hint: ruleHint(access, place, 'change') });

const uncountable = (field: string) =>
  `You may only add to numbers that the record has: ${JSON.stringify(field.slice(0, 100))} is none.`;

/** @throws ApiError unauthenticated; signed-in callers just see less. */
export const checkRead = ({ userId, rights }: Access): void => {
  if (rights.read === 'none' && userId === null) throw signInFirst();
};

/** @throws ApiError unauthenticated */
export const checkChange = ({ userId, rights }: Access, action: WriteAction = 'change'): void => {
  if (rights[action] === 'none' && userId === null) throw signInFirst();
};

/**
 * @param groupId of the new record; undefined asks whether the caller may create any record
 * @throws ApiError unauthenticated, forbidden
 */
export const checkCreate = (access: Access, place: Place, groupId?: string | null): void => {
  const { create } = access.rights;
  if (create === 'all') return;
  const isAny = groupId === undefined && create !== 'none';
  if (isAny || (groupId && create.includes('group') && access.groupIds.includes(groupId))) return;
  if (access.userId === null) throw signInFirst();
  const remedy = create.includes('group')
    ? 'Send the id of a group that you are in beside "data": {"data": {…}, "groupId": "<id>"}. '
    : '';
  throw new ApiError('forbidden', 'You may not create records in this collection.', {
    hint: `${remedy}${ruleHint(access, place, 'create')}`,
  });
};

type Caller = Pick<Access, 'userId' | 'groupIds' | 'isAnyone' | 'userColumn'>;

/**
 * A plan for everybody does not know how many shares a user has: OFFSET keeps it from reading all of them
 * instead of one for each record.
 */
const sharedSql = (userId: string, { isAnyone }: Caller) =>
  `EXISTS (SELECT FROM shares WHERE shares.project_id = $1 AND shares.coll_id = $2 AND shares.record_id = records.id AND shares.user_id = ${userId}${isAnyone ? ' OFFSET 0' : ''})`;

/** A word as a condition on the columns of `records`. */
export const recordWordSql = (word: RecordWord, caller: Caller, parameters: Parameters): string => {
  const { userId, groupIds, userColumn } = caller;
  const user = () => userColumn ?? parameters.add(userId, 'uuid');
  switch (word) {
    case 'ownerless':
      return 'owner_id IS NULL';
    case 'owner':
      return `owner_id = ${user()}`;
    case 'group':
      return `group_id = ANY (${parameters.add(groupIds, 'uuid[]')})`;
    case 'shared':
      return sharedSql(user(), caller);
    case 'sharedToChange':
      return sharedSql(`${user()} AND may = 'change'`, caller);
  }
};

/** The policy as a condition on the columns of `records`; undefined where it admits every row. */
export const rowPolicySql = (
  policy: RowPolicy,
  caller: Caller,
  parameters: Parameters,
): string | undefined => {
  if (policy === 'all') return undefined;
  if (policy === 'none') return 'false';
  const words = policy.map((word) => recordWordSql(word, caller, parameters));
  return words.length === 1 ? words[0] : `(${words.join(' OR ')})`;
};

/** Without what others share: that is nobody's to hand on. */
export const heldPolicy = (policy: RowPolicy): RowPolicy => {
  if (typeof policy === 'string') return policy;
  const held = policy.filter((word) => word !== 'shared');
  return held.length === 0 ? 'none' : held;
};

const covers = (wide: RowPolicy, narrow: RowPolicy): boolean =>
  wide === 'all' ||
  narrow === 'none' ||
  (wide !== 'none' &&
    narrow !== 'all' &&
    narrow.every((word) => wide.includes(word === 'sharedToChange' ? 'shared' : word)));

/** Which rows the caller may do this with: of those that they may read. */
export const writePolicySql = (
  access: Access,
  action: WriteAction,
  parameters: Parameters,
): string | undefined => {
  const { read, [action]: write } = access.rights;
  const unread = covers(read, write) ? 'all' : read;
  const conditions = [unread, write].map((policy) => rowPolicySql(policy, access, parameters));
  return and(conditions) || undefined;
};
