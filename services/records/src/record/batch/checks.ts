import type { Database } from '@backlot/database';
import {
  changeForbidden,
  checkChange,
  checkCreate,
  countForbidden,
  recordNotFound,
} from '../../collections/access.ts';
import { checkNewFields, fieldForbidden, refusedFieldSql } from '../../collections/field-rules.ts';
import { startParameters } from '../../sql.ts';
import type { Update } from '../change/change.ts';
import { addEdits, matchesEdit } from '../change/rows-sql.ts';
import { patchAction, uncountableSql } from '../patch.ts';
import type { LockedRow } from './lock-records.ts';
import { type BatchOperations, type BatchTarget, inOperation } from './operations.ts';

/** What the rules say without a look at records. @throws ApiError */
export const checkRules = ({ access, ...place }: BatchTarget, operations: BatchOperations) => {
  for (const [index, made] of operations.create.entries()) {
    try {
      checkCreate(access, place, made.groupId ?? null);
      checkNewFields(access, made, place);
    } catch (error) {
      throw inOperation(`create[${index}]`, error);
    }
  }
  for (const { patch } of operations.update) checkChange(access, patchAction(access, patch));
  if (operations.delete.length > 0) checkChange(access, 'delete');
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

interface Refused {
  id: string;
  /** A field that may not be changed so. */
  frozen: string | null;
  /** One that may only be added to, and is no number. */
  uncountable: string | null;
}

/** Of locked records. @throws ApiError unauthenticated, forbidden where a field may not be changed so */
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
  const counts = updates.some(({ patch }) => patchAction(access, patch) === 'count');
  if (frozen === undefined && !counts) return;
  const uncountable = counts ? uncountableSql(access, edits.inc, parameters) : 'NULL';
  const rows = await database.query<Refused>(
    `SELECT records.id, ${frozen ?? 'NULL'} AS frozen, ${uncountable} AS uncountable
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
};
