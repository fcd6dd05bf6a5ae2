import { randomUUID } from 'node:crypto';
import type { Access } from '../../collections/access.ts';
import type { Permissions } from '../../collections/rules.ts';
import { Parameters } from '../../sql.ts';
import { createStatementNames, type NamedText } from './statement-names.ts';

const groupIdsOfRoles = new WeakMap<object, string>();

/** Stands in the values of a statement where the caller's own go. No rule names these ids and roles. */
const anyCaller = {
  userId: randomUUID(),
  role: randomUUID(),
  groupIds: ['of the caller'],
  groupIdsWith(role: string): readonly string[] {
    const ids = ['of the caller'];
    groupIdsOfRoles.set(ids, role);
    return ids;
  },
} as const;

/** What of the caller a text stands for: as it is, or as JSON, where a filter compares with it. */
const textsOfCaller = new Map<unknown, (caller: Access) => string | null>([
  [anyCaller.userId, ({ userId }) => userId],
  [JSON.stringify(anyCaller.userId), ({ userId }) => JSON.stringify(userId)],
  [JSON.stringify(anyCaller.role), ({ role }) => JSON.stringify(role)],
]);

type Value = (caller: Access) => unknown;

const toValue = (value: unknown): Value => {
  if (value === anyCaller.groupIds) return ({ groupIds }) => groupIds;
  const text = textsOfCaller.get(value);
  if (text) return text;
  if (!Array.isArray(value)) return () => value;
  const role = groupIdsOfRoles.get(value);
  if (role !== undefined) return (caller) => caller.groupIdsWith(role);
  if (!value.some((item) => textsOfCaller.has(item))) return () => value;
  const items = value.map(toValue);
  return (caller) => items.map((item) => item(caller));
};

interface KeptStatement extends NamedText {
  /** Behind those of the call. */
  callerValues: readonly Value[];
}

export interface NamedStatement extends NamedText {
  values: readonly unknown[];
}

interface Reader {
  access: Access;
}

/** Writes the text; beside the caller nothing in it may depend on what the form does not name. */
type Write = (anyone: Access, parameters: Parameters) => string;

/**
 * Statements that are written once for each kind of caller, instead of for each call, and named. They are kept
 * as long as the rules are, and no more of them for one kind than there are names.
 * @param prefix of the names
 */
export const createKeptStatements = (prefix: string) => {
  const names = {
    free: createStatementNames(prefix),
    // Rules for fields and values, which anybody makes, must not take the names of the others.
    limited: createStatementNames(`${prefix}_special`),
  };
  const kept = new WeakMap<Permissions, Map<string, KeptStatement>>();

  const make = (
    { access }: Reader,
    callValues: readonly unknown[],
    write: Write,
  ): KeptStatement => {
    const parameters = new Parameters(callValues);
    const text = write({ ...access, ...anyCaller, isAnyone: true }, parameters);
    const isUsual = access.fields.hidden.length === 0 && !access.permissions.hasConditions;
    const toName = isUsual ? names.free : names.limited;
    const ofCaller = parameters.values.slice(callValues.length);
    return { ...toName(text), callerValues: ofCaller.map(toValue) };
  };

  /**
   * @param form tells texts for one kind of caller apart
   * @param callValues those that the statement begins with
   */
  return (
    reader: Reader,
    form: string,
    callValues: readonly unknown[],
    write: Write,
  ): NamedStatement => {
    const { access } = reader;
    const ofKind = kept.get(access.permissions) ?? new Map<string, KeptStatement>();
    kept.set(access.permissions, ofKind);
    const known = ofKind.get(form);
    const statement = known ?? make(reader, callValues, write);
    const { name, text, callerValues } = statement;
    if (!known && name !== '') ofKind.set(form, statement);
    return {
      name,
      text,
      values: [...callValues, ...callerValues.map((value) => value(access))],
    };
  };
};
