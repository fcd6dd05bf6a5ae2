import { ApiError, type CollectionAccess } from '@backlot/contract';
import type { GroupMembership, Identity } from '@backlot/identity';
import type { Source } from '../source.ts';
import { and, type Parameters } from '../sql.ts';
import { type Place, refusalFor, ruleHint, signInFirst, type WriteAction } from './forbidden.ts';
import {
  type CompiledAccess,
  compileAccess,
  type FieldLimits,
  fullPermissions,
  type Permissions,
  type Rights,
} from './rules.ts';
import { admitsNew, type NewRecord } from './terms/new-record.ts';
import { rowPolicySql } from './terms/policy-sql.ts';
import { type Caller, type CallerKind, covers, termKey } from './terms/terms.ts';

/** What one caller may do in a collection. `userId` is the user of this project who calls; null for everybody else. */
export interface Access extends Caller {
  rights: Rights;
  fields: FieldLimits;
  /** Both of these, as all callers of this kind have them. */
  permissions: Permissions;
  compiled: CompiledAccess;
  /** Who it is; undefined for those whom no rule binds. */
  asker?: Asker;
  /** What the log says of their changes. */
  source?: Source;
}

/** What of a caller decides what rules allow them. */
type Asker = Pick<Identity, 'caller' | 'userId' | 'role' | 'groups'> &
  Partial<Pick<Identity, 'ip'>> & { emailVerified?: boolean | undefined };

/** The owner of the project, its secret keys and the operator are bound by no rule. */
export const bypassesRules = ({ caller }: Pick<Asker, 'caller'>): boolean =>
  caller === 'owner' || caller === 'key' || caller === 'operator';

const noGroups: readonly GroupMembership[] = [];

const toCaller = (
  userId: string | null,
  role: string,
  groups: readonly GroupMembership[],
): Caller => ({
  userId,
  role,
  groups,
  groupIds: groups.map(({ id }) => id),
  groupIdsWith: (role) => groups.filter((group) => group.role === role).map(({ id }) => id),
});

export const fullAccess = (access: CollectionAccess, source?: Source): Access => ({
  ...toCaller(null, '', noGroups),
  ...fullPermissions,
  permissions: fullPermissions,
  compiled: compileAccess(access),
  ...(source && { source }),
});

export const toCallerKind = ({ caller, role, groups = [], emailVerified }: Asker): CallerKind => {
  const isUser = caller === 'user';
  return { isUser, isVerified: emailVerified, role, groups: isUser ? groups : noGroups };
};

/** @param source where the caller may change something */
export const resolveAccess = (
  access: CollectionAccess,
  identity: Asker,
  source?: Source,
): Access => {
  if (bypassesRules(identity)) return fullAccess(access, source);
  const compiled = compileAccess(access);
  const kind = toCallerKind(identity);
  const { role = 'user' } = identity;
  const userId = kind.isUser ? identity.userId : null;
  const permissions = compiled.permissionsFor(kind);
  const { rights, fields } = permissions;
  const caller = toCaller(userId, role, (kind.isUser && identity.groups) || noGroups);
  const known = { ...caller, rights, fields, permissions, compiled, asker: identity };
  return source ? { ...known, source } : known;
};

/** What the same caller may do in another collection. */
export const accessTo = ({ asker, source }: Access, other: CollectionAccess): Access =>
  asker ? resolveAccess(other, asker, source) : fullAccess(other, source);

/** @throws ApiError unauthenticated; signed-in callers just see less. */
export const checkRead = ({ userId, rights }: Access): void => {
  if (rights.read === 'none' && userId === null) throw signInFirst();
};

/** @throws ApiError unauthenticated */
export const checkChange = ({ userId, rights }: Access, action: WriteAction = 'change'): void => {
  if (rights[action] === 'none' && userId === null) throw signInFirst();
};

/**
 * @param record undefined asks whether the caller may create any record
 * @throws ApiError unauthenticated, forbidden
 */
export const checkCreate = (access: Access, place: Place, record?: NewRecord): void => {
  const { create } = access.rights;
  if (record ? admitsNew(create, access, record) : create !== 'none') return;
  if (access.userId === null) throw signInFirst();
  const namesGroups =
    typeof create !== 'string' && create.some((term) => termKey(term).startsWith('group'));
  const remedy =
    namesGroups && !record?.groupId
      ? 'Send the id of a group that you are in beside "data": {"data": {…}, "groupId": "<id>"}. '
      : '';
  const message = refusalFor(
    access.compiled.rules.create,
    'You may not create records in this collection.',
  );
  throw new ApiError('forbidden', message, {
    hint: `${remedy}${ruleHint(access, place, 'create')}`,
  });
};

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
