import { type AccessRules, isUuid, type RouteResponse, type recordRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { inCollection, startParameters } from '../sql.ts';
import type { Access } from './access.ts';
import type { Collection } from './collections.ts';
import { recordNotFound } from './forbidden.ts';
import { countRule, ruleEntries } from './rules.ts';
import { termSql } from './terms/policy-sql.ts';
import {
  type CallerKind,
  type Does,
  type RuleEntry,
  termKey,
  termsIn,
  toPolicy,
} from './terms/terms.ts';

type AccessCheck = RouteResponse<typeof recordRoutes.checkAccess>;
type Decision = AccessCheck['read'];

export interface AccessQuestion {
  collection: Collection;
  access: Access;
  caller: CallerKind;
  /** Without one the answer is about any record. */
  recordId: string | undefined;
}

/** The terms of the rules that hold for the record, by their keys. @throws ApiError not_found */
const readHeldTerms = async (
  database: Database,
  { collection, access, caller }: AccessQuestion,
  recordId: string,
): Promise<ReadonlySet<string>> => {
  if (!isUuid(recordId)) throw recordNotFound();
  const parameters = startParameters(collection, recordId);
  const entries = ruleEntries(access.compiled.rules);
  const policies = (['read', 'change'] as const).flatMap((does) =>
    entries.map((entry) => toPolicy([entry], caller, does)),
  );
  const terms = termsIn(policies);
  const tests = terms.map((term) => `(${termSql(term, access, parameters)}) IS TRUE`);
  const [row] = await database.query<{ held: boolean[] }>(
    `SELECT ARRAY[${tests.join(', ')}]::boolean[] AS held FROM records WHERE ${inCollection} AND id = $3`,
    parameters.values,
  );
  if (!row) throw recordNotFound();
  return new Set(terms.map(termKey).filter((_, i) => row.held[i]));
};

const decide = (
  rule: readonly RuleEntry[],
  does: Does,
  caller: CallerKind,
  held: ReadonlySet<string> | undefined,
): Decision => {
  const entryPolicy = (entry: RuleEntry) => toPolicy([entry], caller, does);
  const certain = rule.filter((entry) => entryPolicy(entry) === 'all');
  if (certain.length > 0) return { allowed: 'yes', by: certain, rule: [...rule] };
  const mayHold = (entry: RuleEntry) => {
    const policy = entryPolicy(entry);
    return typeof policy !== 'string' && policy.some((term) => held?.has(termKey(term)) ?? true);
  };
  const by = rule.filter(mayHold);
  const allowed = by.length === 0 ? 'no' : held ? 'yes' : 'depends';
  return { allowed, by, rule: [...rule] };
};

/** Nobody changes what they can't read. */
const unlessBlind = (read: Decision, write: Decision): Decision => {
  if (read.allowed === 'no') return { ...write, allowed: 'no', by: [] };
  const isCertain = write.allowed !== 'yes' || read.allowed === 'yes';
  return isCertain ? write : { ...write, allowed: 'depends' };
};

const checkFields = (
  fields: NonNullable<AccessRules['fields']>,
  decision: (rule: readonly RuleEntry[], does: Does) => Decision,
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

const checkAccess = async (
  database: Database,
  question: AccessQuestion,
): Promise<Omit<AccessCheck, 'as'>> => {
  const { collection, access, caller, recordId } = question;
  const held =
    recordId === undefined ? undefined : await readHeldTerms(database, question, recordId);
  const { rules } = access.compiled;
  const decision = (rule: readonly RuleEntry[], does: Does) => decide(rule, does, caller, held);
  const read = decision(rules.read, 'read');
  return {
    collection: collection.name,
    access: collection.access,
    read,
    create: decide(rules.create, 'change', caller, undefined),
    change: unlessBlind(read, decision(rules.change, 'change')),
    delete: unlessBlind(read, decision(rules.delete ?? rules.change, 'change')),
    count: unlessBlind(read, decision(countRule(rules), 'change')),
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
