import { isUuid } from '@backlot/contract';
import { idTimeMs } from '../../timestamps.ts';
import type { Json } from '../../where/filter.ts';
import { holds } from '../../where/holds.ts';
import { forCaller } from '../../where/rule-filter.ts';
import {
  type Caller,
  type Condition,
  groupRole,
  isGroupRole,
  type RowPolicy,
  type Term,
  type Word,
} from './terms.ts';

/** What a caller wants to make. */
export interface NewRecord {
  value: Readonly<Record<string, unknown>>;
  groupId?: string | null | undefined;
  /** Undefined where the server is still to choose it. */
  id?: string;
}

/** An id that is nobody's. */
const anyNewId = '00000000-0000-0000-0000-000000000000';

const toDocument = ({ userId }: Caller, { value, id = anyNewId }: NewRecord): Json => {
  const createdAt = id !== anyNewId && isUuid(id) ? idTimeMs(id) : Date.now();
  return {
    ...(value as { [key: string]: Json }),
    id: id.toLowerCase(),
    ownerId: userId,
    createdAt,
  };
};

/** What was found out of a record, which may be large and looked at for many fields. */
const looked = new WeakMap<NewRecord, { document: Json; held: Map<string, boolean> }>();

const passes = (condition: Condition, caller: Caller, record: NewRecord): boolean => {
  const known = looked.get(record) ?? { document: toDocument(caller, record), held: new Map() };
  looked.set(record, known);
  const { where, text } = condition;
  const isHeld = known.held.get(text) ?? holds(forCaller(where, caller), known.document);
  known.held.set(text, isHeld);
  return isHeld;
};

const wordHolds = (word: Word, caller: Caller, { groupId }: NewRecord): boolean => {
  const isIn = (ids: readonly string[]) => typeof groupId === 'string' && ids.includes(groupId);
  if (isGroupRole(word)) return isIn(caller.groupIdsWith(groupRole(word)));
  if (word === 'group') return isIn(caller.groupIds);
  return caller.userId === null ? word === 'ownerless' : word === 'owner';
};

const termHolds = (term: Term, caller: Caller, record: NewRecord): boolean => {
  if (typeof term === 'string') return wordHolds(term, caller, record);
  const { to } = term;
  const isMeant = to === 'all' || to.some((word) => wordHolds(word, caller, record));
  return isMeant && passes(term, caller, record);
};

/** Whether the policy admits to a record that the caller makes. */
export const admitsNew = (policy: RowPolicy, caller: Caller, record: NewRecord): boolean => {
  if (typeof policy === 'string') return policy === 'all';
  return policy.some((term) => termHolds(term, caller, record));
};
