import { type AccessRules, isUuid, type RouteResponse, type recordRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { inCollection, startParameters } from '../sql.ts';
import { type Access, recordNotFound, recordWordSql } from './access.ts';
import type { Collection } from './collections.ts';
import {
  type CallerKind,
  countWords,
  type Does,
  type RecordWord,
  recordWords,
  toPolicy,
} from './rules.ts';

type AccessCheck = RouteResponse<typeof recordRoutes.checkAccess>;
type Decision = AccessCheck['read'];

export interface AccessQuestion {
  collection: Collection;
  /** As the caller that is asked about. */
  access: Access;
  caller: CallerKind;
  /** Without one the answer is about any record. */
  recordId: string | undefined;
}

/** The words that hold for the record. @throws ApiError not_found */
const readHeldWords = async (
  database: Database,
  { collection, access, caller: { isUser } }: AccessQuestion,
  recordId: string,
): Promise<ReadonlySet<RecordWord>> => {
  if (!isUuid(recordId)) throw recordNotFound();
  const parameters = startParameters(collection, recordId);
  const words = recordWords.filter((word) => isUser || word === 'ownerless');
  const tests = words.map((word) => `(${recordWordSql(word, access, parameters)}) IS TRUE`);
  const [row] = await database.query<{ held: boolean[] }>(
    `SELECT ARRAY[${tests.join(', ')}] AS held FROM records WHERE ${inCollection} AND id = $3`,
    parameters.values,
  );
  if (!row) throw recordNotFound();
  return new Set(words.filter((_, i) => row.held[i]));
};

const toName = (word: RecordWord): string => (word === 'sharedToChange' ? 'shared' : word);

const decide = (
  rule: readonly string[],
  does: Does,
  caller: CallerKind,
  held: ReadonlySet<RecordWord> | undefined,
): Decision => {
  const certain = rule.filter((word) => toPolicy([word], caller, does) === 'all');
  if (certain.length > 0) return { allowed: 'yes', by: certain, rule: [...rule] };
  const policy = toPolicy(rule, caller, does);
  const words = typeof policy === 'string' ? [] : policy.filter((word) => held?.has(word) ?? true);
  const allowed = words.length === 0 ? 'no' : held ? 'yes' : 'depends';
  return { allowed, by: words.map(toName), rule: [...rule] };
};

/** Nobody changes what they can't read. */
const unlessBlind = (read: Decision, write: Decision): Decision => {
  if (read.allowed === 'no') return { ...write, allowed: 'no', by: [] };
  const isCertain = write.allowed !== 'yes' || read.allowed === 'yes';
  return isCertain ? write : { ...write, allowed: 'depends' };
};

const checkFields = (
  fields: NonNullable<AccessRules['fields']>,
  decision: (rule: readonly string[], does: Does) => Decision,
): AccessCheck['fields'] =>
  Object.fromEntries(
    Object.entries(fields).map(([field, { read = ['anyone'], create, change = ['anyone'] }]) => {
      const sees = decision(read, 'read');
      return [
        field,
        {
          read: sees,
          create: decision(create ?? change, 'change'),
          change: unlessBlind(sees, decision(change, 'change')),
        },
      ];
    }),
  );

/** Decides what a caller may do in a collection, or with one record, and by which words of the rules. */
const checkAccess = async (
  database: Database,
  question: AccessQuestion,
): Promise<Omit<AccessCheck, 'as'>> => {
  const { collection, access, caller, recordId } = question;
  const held =
    recordId === undefined ? undefined : await readHeldWords(database, question, recordId);
  const { rules } = access.compiled;
  const decision = (rule: readonly string[], does: Does) => decide(rule, does, caller, held);
  const read = decision(rules.read, 'read');
  return {
    collection: collection.name,
    access: collection.access,
    read,
    create: decide(rules.create, 'change', caller, undefined),
    change: unlessBlind(read, decision(rules.change, 'change')),
    delete: unlessBlind(read, decision(rules.delete ?? rules.change, 'change')),
    count: unlessBlind(read, decision(countWords(rules), 'change')),
    fields: checkFields(rules.fields ?? {}, decision),
  };
};

export interface AccessChecks {
  /** @throws ApiError not_found */
  check(question: AccessQuestion): ReturnType<typeof checkAccess>;
}

export const createAccessChecks = (database: Database): AccessChecks => ({
  check: (question) => checkAccess(database, question),
});
