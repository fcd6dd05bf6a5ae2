import type { Database } from '@backlot/database';
import { checkChange } from '../../collections/access.ts';
import { refusedFieldSql } from '../../collections/field-rules.ts';
import {
  changedForbidden,
  changeForbidden,
  countForbidden,
  fieldForbidden,
  recordNotFound,
} from '../../collections/forbidden.ts';
import { checkFilled, checkSent } from '../../collections/new-fields.ts';
import { startParameters } from '../../sql.ts';
import type { ResultCheck, Update } from '../change/change.ts';
import { addEdits, admitsAfterSql, matchesEdit } from '../change/edits-sql.ts';
import { readResults } from '../change/read-results.ts';
import { patchAction, uncountableSql } from '../patch.ts';
import { checkChangedSize, checkNewSize } from '../record-size.ts';
import { explainRefusal, type RecordTarget } from '../refusals.ts';
import type { LockedRow } from './lock-records.ts';
import { type BatchOperations, type BatchTarget, inOperation } from './operations.ts';

/** What the rules say without a look at records. @throws ApiError */
export const checkRules = ({ access, ...place }: BatchTarget, operations: BatchOperations) => {
  for (const [index, made] of operations.create.entries()) {
    try {
      checkSent(access, made, place);
    } catch (error) {
      throw inOperation(`create[${index}]`, error);
    }
  }
  for (const { patch } of operations.update) checkChange(access, patchAction(access, patch));
  if (operations.delete.length > 0) checkChange(access, 'delete');
};

/** What the rules say of the values of new records, which the server may have added to, and their sizes. @throws ApiError */
export const checkCreated = (
  { access, ...place }: BatchTarget,
  sent: BatchOperations['create'],
  filled: BatchOperations['create'],
) => {
  for (const [index, made] of filled.entries()) {
    try {
      checkFilled(access, sent[index] ?? made, made, place);
      checkNewSize(place, made);
    } catch (error) {
      throw inOperation(`create[${index}]`, error);
    }
  }
};

/** What the rules say of the records, which are locked. @throws ApiError */
export const checkLocked = (
  locked: ReadonlyMap<string, LockedRow>,
  { access, ...place }: BatchTarget,
  operations: BatchOperations,
) => {
  const targets = [
    ...operations.update.map(
      ({ id, patch }, i) => [id, patchAction(access, patch), `update[${i}]`] as const,
    ),
    ...operations.delete.map((id, i) => [id, 'delete', `delete[${i}]`] as const),
  ];
  for (const [id, action, operation] of targets) {
    const row = locked.get(id);
    if (!row?.readable) throw inOperation(operation, recordNotFound());
    if (!row[action]) throw inOperation(operation, changeForbidden(access, place, action));
  }
};

/** What the schema says of fields that follow from locked records. @throws ApiError schema_mismatch */
export const checkResults = async (
  database: Database,
  change: Update,
  checks: ReadonlyMap<string, ResultCheck>,
): Promise<void> => {
  if (checks.size === 0) return;
  const edits = change.edits.filter(({ id }) => checks.has(id));
  const results = await readResults(database, { ...change, edits }, [
    ...new Set([...checks.values()].flatMap(({ fields }) => fields)),
  ]);
  for (const [id, { fields, check }] of checks) {
    const result = Object.entries(results.get(id) ?? {});
    if (results.has(id))
      check(Object.fromEntries(result.filter(([name]) => fields.includes(name))));
  }
};

interface Refused {
  id: string;
  /** A field that may not be changed so. */
  frozen: string | null;
  /** One that may only be added to, and is no number. */
  uncountable: string | null;
  /** By what may be done with them: whether the rule does not admit to what becomes of the record. */
  change: boolean | null;
  count: boolean | null;
}

/** Of locked records. @throws ApiError unauthenticated, forbidden where they or a field may not be changed so */
export const checkEdits = async (
  database: Database,
  { access, ...place }: BatchTarget,
  change: Update,
  updates: BatchOperations['update'],
): Promise<void> => {
  const { collection } = change;
  const parameters = startParameters(
    collection,
    updates.map(({ id }) => id),
  );
  const edits = addEdits(change, parameters, true);
  const fields = { names: change.names, sql: () => edits };
  const frozen = refusedFieldSql(access, fields, parameters);
  const actions = new Set(updates.map(({ patch }) => patchAction(access, patch)));
  const counts = actions.has('count');
  const after = (action: 'change' | 'count') =>
    actions.has(action)
      ? admitsAfterSql({ ...change, by: { access, action } }, edits, edits.document, parameters)
      : undefined;
  const [afterChange, afterCount] = [after('change'), after('count')];
  if ([frozen, afterChange, afterCount].every((sql) => sql === undefined) && !counts) return;
  const uncountable = counts ? uncountableSql(access, edits.inc, parameters) : 'NULL';
  const rows = await database.query<Refused>(
    `SELECT records.id, ${frozen ?? 'NULL'} AS frozen, ${uncountable} AS uncountable,
       NOT ${afterChange ?? 'true'} AS change, NOT ${afterCount ?? 'true'} AS count
     FROM records, ${edits.from} WHERE ${matchesEdit}`,
    parameters.values,
  );
  const refusals = [
    ['frozen', fieldForbidden],
    ['uncountable', countForbidden],
  ] as const;
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const [why, refuse] of refusals) {
    for (const [index, { id }] of updates.entries()) {
      const field = byId.get(id)?.[why];
      if (field) throw inOperation(`update[${index}]`, refuse(access, field, place));
    }
  }
  for (const [index, { id, patch }] of updates.entries()) {
    const action = patchAction(access, patch);
    if (byId.get(id)?.[action])
      throw inOperation(`update[${index}]`, changedForbidden(access, place, action));
  }
};

/** Why a change of one locked record matched none. */
export const explainUnchanged = (
  database: Database,
  target: RecordTarget,
  change: Update,
): Promise<unknown> => {
  const { inc = {} } = change.edits[0] ?? {};
  return explainRefusal(database, target, { action: 'change', inc })
    .then(() => checkChangedSize(database, target, change))
    .then(
      () => new Error('A locked record was not changed.'),
      (error: unknown) => error,
    );
};
