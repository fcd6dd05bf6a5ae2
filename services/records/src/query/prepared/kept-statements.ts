import type { Access } from '../../collections/access.ts';
import type { Permissions } from '../../collections/rules.ts';
import { Parameters } from '../../sql.ts';
import { createStatementNames, type NamedText } from './statement-names.ts';

/** Stands in the values of a statement where the caller's own go. */
const anyCaller = { userId: 'of the caller', groupIds: ['of the caller'] } as const;

const fillIn = (value: unknown, { userId, groupIds }: Access): unknown => {
  if (value === anyCaller.userId) return userId;
  return value === anyCaller.groupIds ? groupIds : value;
};

interface KeptStatement extends NamedText {
  /** Behind those of the call. */
  callerValues: readonly unknown[];
}

export interface Statement extends NamedText {
  values: readonly unknown[];
}

/** Who reads. */
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
    // Rules for fields, which anybody makes, must not take the names of the others.
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
    const isUsual = access.fields.hidden.length === 0;
    const toName = isUsual ? names.free : names.limited;
    return { ...toName(text), callerValues: parameters.values.slice(callValues.length) };
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
  ): Statement => {
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
      values: [...callValues, ...callerValues.map((value) => fillIn(value, access))],
    };
  };
};
