import { isDeepStrictEqual } from 'node:util';
import type { AccessRules } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import {
  type Answer,
  admits,
  type Held,
  isHopeless,
  mismatch,
  missing,
  ok,
  refusal,
  refused,
  seesOther,
  show,
  shutsOut,
  tooMuch,
} from './answers.ts';
import type { Patch } from './arbitrary-calls.ts';
import {
  bytesIn,
  fieldsFit,
  hasRequired,
  isObject,
  patchFits,
  resultFits,
  withDefaults,
} from './schemas.ts';
import {
  alwaysAllows,
  can,
  changes,
  type Data,
  type Scalar,
  type Stored,
  sees,
  type Value,
} from './words.ts';

export const actionOf = (
  { count }: AccessRules,
  { data, unset, inc }: Patch,
): 'change' | 'count' => {
  const addsOnly = Object.keys(inc).length > 0 && [...Object.keys(data), ...unset].length === 0;
  return count && addsOnly ? 'count' : 'change';
};

/** Of a field that is given a value, taken out (undefined) or added to. */
const mayChange = (
  rules: AccessRules,
  who: Identity,
  record: Stored,
  name: string,
  value: unknown,
): boolean => {
  if (changes(rules, who, record, name)) return true;
  return sees(rules, who, record, name) && isDeepStrictEqual(record.data[name], value);
};

/** RFC 7396; undefined is taken out. */
const mergeValue = (before: Value | undefined, given: unknown): Value | undefined => {
  if (given === null) return undefined;
  if (!isObject(given)) return given as Value;
  const start = isObject(before) ? before : {};
  const all = Object.entries({ ...start, ...given }).filter(([, value]) => value !== null);
  return Object.fromEntries(all) as Record<string, Scalar>;
};

export const patched = (
  rules: AccessRules,
  who: Identity,
  record: Stored,
  { data, unset, inc, isDeep }: Patch,
): Data | undefined => {
  const set = Object.entries(data).map(
    ([name, value]) =>
      [name, isDeep ? mergeValue(record.data[name], value) : (value as Value)] as const,
  );
  const fields = [...set, ...unset.map((name) => [name, undefined] as const)];
  if (fields.some(([name, value]) => !mayChange(rules, who, record, name, value))) return undefined;
  const adds = Object.keys(inc);
  if (adds.some((name) => !changes(rules, who, record, name))) return undefined;
  const countsOnly = !can(rules, 'change', who, record);
  if (countsOnly && adds.some((name) => !(name in record.data))) return undefined;
  const sums = Object.entries(inc).map(
    ([name, by]) => [name, Number(record.data[name] ?? 0) + by] as const,
  );
  const after = { ...record.data, ...Object.fromEntries([...fields, ...sums]) };
  const left = Object.entries(after).filter(([, value]) => value !== undefined);
  return Object.fromEntries(left) as Data;
};

/** What is larger may stay so large. */
export const checkSize = ({ limits }: Held, record: Stored, after: Data): Answer | undefined => {
  const { maxBytes = Number.POSITIVE_INFINITY } = limits ?? {};
  return bytesIn(after) > Math.max(maxBytes, bytesIn(record.data)) ? tooMuch : undefined;
};

export const checkPatch = (held: Held, who: Identity, patch: Patch): Answer | undefined => {
  const { schema, rules } = held;
  if (!schema || isHopeless(rules, who, actionOf(rules, patch))) return undefined;
  return patchFits(schema, patch, seesOther(held, who)) ? undefined : mismatch;
};

export const patch = (
  held: Held,
  who: Identity,
  record: Stored | undefined,
  patch: Patch,
): Answer => {
  const { rules, schema } = held;
  const action = actionOf(rules, patch);
  const byItself = checkPatch(held, who, patch);
  if (byItself) return byItself;
  if (shutsOut(rules, who, action)) return { status: 401 };
  if (!record) return missing;
  const byRecord = refusal(rules, who, action, record);
  if (byRecord) return byRecord;
  const after = patched(rules, who, record, patch);
  if (!after) return refused(who);
  if (schema && !resultFits(schema, patch, after)) return mismatch;
  if (!admits(rules, who, action, { ...record, data: after })) return refused(who);
  const bySize = checkSize(held, record, after);
  if (bySize) return bySize;
  record.data = after;
  return ok(show(held, who, record));
};

/** What may be replaced, with defaults; a mismatch where it does not fit. */
const checkPut = (held: Held, who: Identity, data: Data): Data | undefined => {
  const { rules, schema } = held;
  if (!schema || isHopeless(rules, who, 'change')) return data;
  const isLimited = (name: string) => {
    const { read, change } = rules.fields?.[name] ?? {};
    return !alwaysAllows(read, who) || !alwaysAllows(change, who);
  };
  const all = withDefaults(schema, data, isLimited);
  const has = (name: string) => name in all || isLimited(name);
  const isFitting = fieldsFit(schema, all, seesOther(held, who)) && hasRequired(schema, has);
  return isFitting ? all : undefined;
};

export const put = (held: Held, who: Identity, record: Stored | undefined, sent: Data): Answer => {
  const { rules, schema } = held;
  const data = checkPut(held, who, sent);
  if (!data) return mismatch;
  if (shutsOut(rules, who, 'change')) return { status: 401 };
  if (!record) return missing;
  const byRecord = refusal(rules, who, 'change', record);
  if (byRecord) return byRecord;
  const isFree = ([name, value]: [string, Value]) => mayChange(rules, who, record, name, value);
  if (!Object.entries(data).every(isFree)) return refused(who);
  const isTheirs = (name: string) => changes(rules, who, record, name);
  const kept = Object.entries(record.data).filter(([name]) => !isTheirs(name));
  const after = { ...data, ...Object.fromEntries(kept) };
  if (schema && !hasRequired(schema, (name) => name in after || !isTheirs(name))) return mismatch;
  if (!admits(rules, who, 'change', { ...record, data: after })) return refused(who);
  const bySize = checkSize(held, record, after);
  if (bySize) return bySize;
  record.data = after;
  return ok(show(held, who, record));
};

export const remove = (held: Held, who: Identity, record: Stored | undefined): Answer => {
  if (shutsOut(held.rules, who, 'delete')) return { status: 401 };
  if (!record) return missing;
  const byRecord = refusal(held.rules, who, 'delete', record);
  if (byRecord) return byRecord;
  held.records = held.records.filter((other) => other !== record);
  return { status: 200 };
};
