import type { Identity } from '@backlot/identity';
import {
  type Answer,
  admits,
  type Held,
  mismatch,
  missing,
  refusal,
  refused,
  seesOther,
  shutsOut,
  tooMuch,
} from './answers.ts';
import type { OperationOf } from './arbitrary-calls.ts';
import { actionOf, checkPatch, checkSize, patched, put } from './changes.ts';
import { bytesIn, fieldsFit, filled, hasRequired, resultFits } from './schemas.ts';
import {
  allows,
  alwaysAllows,
  type Data,
  isConditional,
  type Stored,
  seen,
  uses,
} from './words.ts';

const newRecord = (who: Identity, data: Data, groupId?: string): Stored => ({
  id: '',
  groupId: groupId ?? null,
  shares: [],
  data,
  ownerId: who.caller === 'user' ? who.userId : null,
});

/** A record that somebody wants to make. */
interface Making {
  who: Identity;
  data: Data;
  groupId: string | undefined;
}

const checkGroup = ({ rules }: Held, { who, groupId }: Making): Answer | undefined => {
  if (groupId === undefined) return undefined;
  if (!uses(rules, 'group')) return { status: 400 };
  const isMember = who.groups?.some(({ id }) => id === groupId) ?? false;
  return who.caller === 'key' || isMember ? undefined : refused(who);
};

/** By the rules that ask for values, or by the others. */
const checkRules = (
  { rules }: Held,
  { who, data }: Making,
  record: Stored,
  asksValues: boolean,
): Answer | undefined => {
  const given = Object.keys(data).map((name) => {
    const { create, change } = rules.fields?.[name] ?? {};
    return create ?? change;
  });
  const asked = [rules.create, ...given].filter((rule) => isConditional(rule, who) === asksValues);
  return asked.every((rule) => allows(rule, who, record)) ? undefined : refused(who);
};

const checkSent = (held: Held, making: Making): Answer | undefined =>
  checkRules(held, making, newRecord(making.who, making.data, making.groupId), false);

const checkSchema = (held: Held, { who, data }: Making): Answer | undefined => {
  const { schema } = held;
  if (!schema) return undefined;
  const all = filled(schema, who, data);
  const isFitting =
    fieldsFit(schema, all, seesOther(held, who)) && hasRequired(schema, (name) => name in all);
  return isFitting ? undefined : mismatch;
};

const checkFilled = (held: Held, making: Making): Answer | undefined => {
  const { who, data, groupId } = making;
  const all = filled(held.schema, who, data);
  const { maxBytes = Number.POSITIVE_INFINITY } = held.limits ?? {};
  const byRules = checkRules(held, making, newRecord(who, all, groupId), true);
  return byRules ?? (bytesIn(all) > maxBytes ? tooMuch : undefined);
};

/** @param deleted before it is made */
const checkCount = (
  { limits, records }: Held,
  { caller, userId }: Identity,
  deleted?: Stored,
): Answer | undefined => {
  const { perUser = Number.POSITIVE_INFINITY } = limits ?? {};
  if (caller !== 'user') return undefined;
  const owned = records.filter((record) => record.ownerId === userId && record !== deleted);
  return owned.length >= perUser ? tooMuch : undefined;
};

export const create = (held: Held, who: Identity, data: Data, groupId?: string): Answer => {
  const making = { who, data, groupId };
  const refusal =
    checkGroup(held, making) ??
    checkSent(held, making) ??
    checkSchema(held, making) ??
    checkFilled(held, making) ??
    checkCount(held, who);
  const record = newRecord(who, filled(held.schema, who, data), groupId);
  return refusal ?? { status: 201, body: seen(held.rules, who, record) };
};

/** @param record that has the id: undefined where it is a new one, or none ("none") */
export const upsert = (
  held: Held,
  who: Identity,
  record: Stored | undefined,
  { isNew, data }: { isNew: boolean; data: Data },
): Answer => {
  const { rules, schema } = held;
  const mayAdmit = alwaysAllows(rules.create, who) || isConditional(rules.create, who);
  if (!mayAdmit && shutsOut(rules, who, 'change')) return { status: 401 };
  const isNoId = !isNew && !record;
  const made = isNoId ? { status: 400 } : create(held, who, data);
  if (mayAdmit && (made === mismatch || (isNew && made.status === 201))) return made;
  const replaced = put(held, who, record, data);
  if (replaced.status !== 404) return replaced;
  const asked = newRecord(who, mayAdmit && !isNoId ? filled(schema, who, data) : data);
  if (!allows(rules.create, who, asked)) return refused(who);
  return mayAdmit && made.status !== 201 ? made : missing;
};

/** @param updated and deleted: two records */
export const batch = (
  held: Held,
  who: Identity,
  [updated, deleted]: readonly [Stored | undefined, Stored | undefined],
  { patch, data, groupId }: OperationOf<'batch'>,
): Answer => {
  if (!updated || !deleted || updated === deleted) return { status: 400 };
  const { rules, schema } = held;
  const making = { who, data, groupId };
  const action = actionOf(rules, patch);
  const byCall = checkGroup(held, making) ?? checkSent(held, making);
  if (byCall) return byCall;
  if (shutsOut(rules, who, action) || shutsOut(rules, who, 'delete')) return { status: 401 };
  const bySchemaOrRecord =
    checkSchema(held, making) ??
    checkPatch(held, who, patch) ??
    checkFilled(held, making) ??
    refusal(rules, who, action, updated) ??
    refusal(rules, who, 'delete', deleted) ??
    checkCount(held, who, deleted);
  if (bySchemaOrRecord) return bySchemaOrRecord;
  const after = patched(rules, who, updated, patch);
  if (!after || !admits(rules, who, action, { ...updated, data: after })) return refused(who);
  if (schema && !resultFits(schema, patch, after)) return mismatch;
  const bySize = checkSize(held, updated, after);
  if (bySize) return bySize;
  updated.data = after;
  held.records = held.records.filter((record) => record !== deleted);
  return { status: 200 };
};
