import { idTimeMs } from '../../timestamps.ts';
import type { Json } from '../../where/filter.ts';
import { holds } from '../../where/holds.ts';
import { forCaller } from '../../where/rule-filter.ts';
import {
  type Caller,
  groupRole,
  isGroupRole,
  type RowPolicy,
  type Term,
  type Word,
} from './terms.ts';

/** A record in memory, with all of its document. */
export interface StoredRecord {
  id: string;
  ownerId: string | null;
  groupId: string | null;
  value: { readonly [name: string]: Json };
  /** Whether it is shared with them, to read or to change. */
  isSharedWith(userId: string): boolean;
}

const wordHolds = (word: Word, caller: Caller, record: StoredRecord): boolean => {
  const isIn = (ids: readonly string[]) => record.groupId !== null && ids.includes(record.groupId);
  if (isGroupRole(word)) return isIn(caller.groupIdsWith(groupRole(word)));
  switch (word) {
    case 'ownerless':
      return record.ownerId === null;
    case 'owner':
      return record.ownerId !== null && record.ownerId === caller.userId;
    case 'group':
      return isIn(caller.groupIds);
    case 'shared':
      return caller.userId !== null && record.isSharedWith(caller.userId);
    case 'sharedToChange':
      return false;
  }
};

const termHolds = (term: Term, caller: Caller, record: StoredRecord): boolean => {
  if (typeof term === 'string') return wordHolds(term, caller, record);
  const { to, where } = term;
  if (to !== 'all' && !to.some((word) => wordHolds(word, caller, record))) return false;
  const { id, ownerId, value } = record;
  return holds(forCaller(where, caller), { ...value, id, ownerId, createdAt: idTimeMs(id) });
};

/** Whether a policy of reading admits to the record, as `rowPolicySql` has it. */
export const admitsStored = (policy: RowPolicy, caller: Caller, record: StoredRecord): boolean => {
  if (typeof policy === 'string') return policy === 'all';
  return policy.some((term) => termHolds(term, caller, record));
};
