import type { Parameters } from '../../sql.ts';
import { filterSql } from '../../where/compile.ts';
import { forCaller } from '../../where/rule-filter.ts';
import {
  type Caller,
  groupRole,
  isGroupRole,
  type RowPolicy,
  type Term,
  type Word,
} from './terms.ts';

/**
 * A plan for everybody does not know how many shares a user has: OFFSET keeps it from reading all of them
 * instead of one for each record.
 */
const sharedSql = (userId: string, { isAnyone }: Caller) =>
  `EXISTS (SELECT FROM shares WHERE shares.project_id = $1 AND shares.coll_id = $2 AND shares.record_id = records.id AND shares.user_id = ${userId}${isAnyone ? ' OFFSET 0' : ''})`;

const wordSql = (word: Word, caller: Caller, parameters: Parameters): string => {
  const { userId, groupIds, userColumn } = caller;
  const user = () => userColumn ?? parameters.add(userId, 'uuid');
  const isIn = (ids: readonly string[]) => `group_id = ANY (${parameters.add(ids, 'uuid[]')})`;
  if (isGroupRole(word)) return isIn(caller.groupIdsWith(groupRole(word)));
  switch (word) {
    case 'ownerless':
      return 'owner_id IS NULL';
    case 'owner':
      return `owner_id = ${user()}`;
    case 'group':
      return isIn(groupIds);
    case 'shared':
      return sharedSql(user(), caller);
    case 'sharedToChange':
      return sharedSql(`${user()} AND may = 'change'`, caller);
  }
};

const anyOf = (conditions: readonly string[]): string =>
  conditions.length === 1 ? (conditions[0] ?? '') : `(${conditions.join(' OR ')})`;

/** A term as a condition on the columns of `records`, with all of the document as `data`. */
export const termSql = (term: Term, caller: Caller, parameters: Parameters): string => {
  if (typeof term === 'string') return wordSql(term, caller, parameters);
  const { to } = term;
  const where = filterSql(forCaller(term.where, caller), parameters);
  if (to === 'all') return where;
  return `(${anyOf(to.map((word) => wordSql(word, caller, parameters)))} AND ${where})`;
};

/** The policy as a condition on the columns of `records`; undefined where it admits every row. */
export const rowPolicySql = (
  policy: RowPolicy,
  caller: Caller,
  parameters: Parameters,
): string | undefined => {
  if (policy === 'all') return undefined;
  if (policy === 'none') return 'false';
  return anyOf(policy.map((term) => termSql(term, caller, parameters)));
};

/** Whether the policy admits to the record once its document is another one. @param document on the columns of `records` */
export const policyAfterSql = (
  policy: RowPolicy,
  document: string,
  caller: Caller,
  parameters: Parameters,
): string =>
  `(SELECT (${rowPolicySql(policy, caller, parameters) ?? 'true'}) IS TRUE FROM (
      SELECT ${document} AS data, records.id, records.owner_id, records.group_id OFFSET 0) records)`;
