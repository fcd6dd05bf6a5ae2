import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { V7Generator } from 'uuidv7';
import {
  type Access,
  changeForbidden,
  checkChange,
  checkCreate,
  type Place,
  recordNotFound,
  rowPolicySql,
} from '../collections/access.ts';
import type { Collection, Collections } from '../collections/collections.ts';
import { checkNewFields, fieldForbidden, refusedFieldSql } from '../collections/field-rules.ts';
import type { RowPolicy } from '../collections/rules.ts';
import { checkEpoch, onCurrentSlots, StaleSlots } from '../slots/current-slots.ts';
import { isCurrentSql, slotAssignments, slotValues } from '../slots/slots.ts';
import {
  inCollection,
  nextVersionSql,
  type Parameters,
  startParameters,
  versionSql,
} from '../sql.ts';
import { idTimeMs } from '../timestamps.ts';
import type { CheckedData } from './data.ts';
import { changesField, mergedSql, noNumberSql, type Patch, sumsSql } from './patch.ts';
import type { Quota } from './quota.ts';
import { explainRefusal, translateWriteError } from './refusals.ts';

export interface BatchOperations {
  create: readonly CheckedData[];
  update: readonly { id: string; patch: Patch }[];
  delete: readonly string[];
}

export interface Written {
  id: string;
  updatedAt: string;
}

export interface BatchResult {
  create: Written[];
  update: Written[];
  delete: { id: string }[];
}

export interface Batches {
  /**
   * All operations or none, in one transaction: a statement for each kind, whatever their number.
   * @throws ApiError that names the operation: not_found, unauthenticated, forbidden, invalid_data,
   * quota_reached
   */
  write(
    project: Identity['project'],
    collection: Collection,
    access: Access,
    operations: BatchOperations,
  ): Promise<BatchResult>;
}

export interface BatchDeps {
  database: Database;
  quota: Quota;
  refresh: Collections['refresh'];
  /** Epoch milliseconds. */
  now: () => number;
}

/** The error with the operation that it is about, such as `update[3]`, before its message. */
export const inOperation = (operation: string, error: unknown): unknown => {
  if (!(error instanceof ApiError)) return error;
  const { code, message, hint, cause } = error;
  return new ApiError(code, `${operation}: ${message}`, { cause, ...(hint && { hint }) });
};

interface LockedRow {
  id: string;
  readable: boolean | null;
  change: boolean | null;
  delete: boolean | null;
}

/** Locks the records in one order for all batches, so that two of them don't wait for each other. */
const lockRecords = async (
  database: Database,
  collection: Collection,
  access: Access,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LockedRow>> => {
  const parameters = startParameters(collection, ids);
  const { rights } = access;
  const test = (policy: RowPolicy) => rowPolicySql(policy, access, parameters) ?? 'true';
  const rows = await database.query<LockedRow>(
    `SELECT id, ${test(rights.read)} AS readable, ${test(rights.change)} AS change, ${test(rights.delete)} AS delete FROM records
     WHERE ${inCollection} AND id = ANY ($3::uuid[]) ORDER BY id FOR UPDATE`,
    parameters.values,
  );
  return new Map(rows.map((row) => [row.id, row]));
};

type Updates = BatchOperations['update'];

const updateParameters = (updates: Updates): unknown[] => [
  updates.map(({ id }) => id),
  updates.map(({ patch }) => patch.dataJson),
  updates.map(({ patch }) => JSON.stringify(patch.inc)),
  updates.map(({ patch }) => JSON.stringify(patch.unset)),
];

/** The parameters of `updateParameters` as rows. */
const changesSql = `(SELECT id, data, inc, ARRAY(SELECT jsonb_array_elements_text(unset)) AS unset
    FROM unnest($3::uuid[], $4::jsonb[], $5::jsonb[], $6::jsonb[]) given(id, data, inc, unset)) change`;

/** Of locked records. @throws ApiError unauthenticated, forbidden where a field may not be changed so */
const checkUpdatedFields = async (
  database: Database,
  place: Place & { collection: Collection },
  access: Access,
  updates: Updates,
): Promise<void> => {
  const { collection } = place;
  const parameters = startParameters(collection, ...updateParameters(updates));
  const data = 'change.data';
  const refused = refusedFieldSql(
    access,
    {
      names: (field) => updates.some(({ patch }) => changesField(patch)(field)),
      sql: () => ({ given: data, result: data, unset: 'change.unset', inc: 'change.inc' }),
    },
    parameters,
  );
  if (refused === undefined) return;
  const rows = await database.query<{ id: string; field: string | null }>(
    `SELECT records.id, ${refused} AS field FROM records JOIN ${changesSql} USING (id) WHERE ${inCollection}`,
    parameters.values,
  );
  const fields = new Map(rows.map(({ id, field }) => [id, field]));
  for (const [index, { id }] of updates.entries()) {
    const field = fields.get(id);
    if (field) throw inOperation(`update[${index}]`, fieldForbidden(access, field, place));
  }
};

/** Writes nothing where the collection's slots have changed, as `updateSql`. */
const createSql = ({ slots, epoch }: Collection, parameters: Parameters): string => {
  const keys = slotValues(slots, 'data', '$3::uuid', parameters);
  return `WITH created AS (
    INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data, group_id${keys.columns})
    SELECT $1, $2, id, $3, created_at, created_at, data, group_id${keys.values}
    FROM unnest($4::uuid[], $5::timestamptz[], $6::jsonb[], $7::uuid[]) made(id, created_at, data, group_id)
    WHERE ${isCurrentSql(epoch, parameters)}
    RETURNING size_bytes)
  INSERT INTO count_delta (project_id, coll_id, d, bytes)
  SELECT $1, $2, count(*), sum(size_bytes) FROM created HAVING count(*) > 0 RETURNING d`;
};

const updatedDataSql = `(${mergedSql('change.data')} || ${sumsSql('change.inc')}) - change.unset`;

const updateSql = (
  { slots, epoch }: Collection,
  patches: readonly Patch[],
  parameters: Parameters,
): string => {
  const isChanged = (field: string) => patches.some((patch) => changesField(patch)(field));
  const keys = slotAssignments(slots, `(${updatedDataSql})`, parameters, isChanged);
  return `WITH changed AS (
    UPDATE records SET
      data = ${updatedDataSql}${keys},
      updated_at = ${nextVersionSql('$7::timestamptz')}
    FROM ${changesSql}
    WHERE ${inCollection} AND records.id = change.id
      AND NOT ${noNumberSql('change.inc')} AND ${isCurrentSql(epoch, parameters)}
    RETURNING records.id, updated_at, new.size_bytes - old.size_bytes AS growth),
  counted AS (
    INSERT INTO count_delta (project_id, coll_id, d, bytes)
    SELECT $1, $2, 0, sum(growth) FROM changed HAVING sum(growth) <> 0)
  SELECT id, ${versionSql} AS version FROM changed`;
};

const deleteSql = `WITH deleted AS (
    DELETE FROM records WHERE ${inCollection} AND id = ANY ($3::uuid[]) RETURNING size_bytes)
  INSERT INTO count_delta (project_id, coll_id, d, bytes)
  SELECT $1, $2, -count(*), -sum(size_bytes) FROM deleted HAVING count(*) > 0`;

const toIso = (ms: number) => new Date(ms).toISOString();
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

export const createBatches = ({ database, quota, refresh, now }: BatchDeps): Batches => {
  const ids = new V7Generator();

  const create = async (
    collection: Collection,
    { userId }: Access,
    documents: readonly CheckedData[],
  ): Promise<Written[]> => {
    if (documents.length === 0) return [];
    const at = now();
    const made = documents.map(() => {
      const id = ids.generateOrResetWithTs(at).toString();
      return { id, updatedAt: toIso(idTimeMs(id)) };
    });
    const parameters = startParameters(
      ...([collection, userId] as const),
      made.map(({ id }) => id),
      made.map(({ updatedAt }) => updatedAt),
      documents.map(({ json }) => json),
      documents.map(({ groupId }) => groupId ?? null),
    );
    const text = createSql(collection, parameters);
    const written = await database.query(text, parameters.values);
    if (written.length === 0) throw new StaleSlots();
    return made;
  };

  const update = async (
    project: Identity['project'],
    collection: Collection,
    access: Access,
    updates: BatchOperations['update'],
  ): Promise<Written[]> => {
    if (updates.length === 0) return [];
    await checkUpdatedFields(database, { project, collection }, access, updates);
    const parameters = startParameters(collection, ...updateParameters(updates), toIso(now()));
    const patches = updates.map(({ patch }) => patch);
    const text = updateSql(collection, patches, parameters);
    const changed = await database.query<{ id: string; version: number }>(text, parameters.values);
    if (changed.length < updates.length) await checkEpoch(database, collection);
    const versions = new Map(changed.map(({ id, version }) => [id, version]));
    const written: Written[] = [];
    for (const [index, { id, patch }] of updates.entries()) {
      const version = versions.get(id);
      if (version === undefined) {
        const target = { project, collection, access, id };
        const refusal = explainRefusal(database, target, { action: 'change', inc: patch.inc });
        await refusal.catch((error: unknown) =>
          Promise.reject(inOperation(`update[${index}]`, error)),
        );
        throw new Error('A locked record was not changed.');
      }
      written.push({ id, updatedAt: toIso(version) });
    }
    return written;
  };

  /** @throws ApiError */
  const checkLocked = (
    locked: ReadonlyMap<string, LockedRow>,
    access: Access,
    place: Place,
    operations: BatchOperations,
  ) => {
    const targets = [
      ...operations.update.map(({ id }, i) => [id, 'change', `update[${i}]`] as const),
      ...operations.delete.map((id, i) => [id, 'delete', `delete[${i}]`] as const),
    ];
    for (const [id, action, operation] of targets) {
      const row = locked.get(id);
      if (!row?.readable) throw inOperation(operation, recordNotFound());
      if (!row[action]) throw inOperation(operation, changeForbidden(access, place, action));
    }
  };

  return {
    async write(project, collection, access, operations) {
      const place = { project, collection };
      for (const [index, made] of operations.create.entries()) {
        try {
          checkCreate(access, place, made.groupId ?? null);
          checkNewFields(access, made, place);
        } catch (error) {
          throw inOperation(`create[${index}]`, error);
        }
      }
      if (operations.update.length > 0) checkChange(access);
      if (operations.delete.length > 0) checkChange(access, 'delete');
      const targets = [...operations.update.map(({ id }) => id), ...operations.delete];
      const writeAll = (collection: Collection) =>
        database
          .transaction(async () => {
            if (targets.length > 0)
              checkLocked(
                await lockRecords(database, collection, access, targets),
                access,
                place,
                operations,
              );
            const created = await create(collection, access, operations.create);
            const updated = await update(project, collection, access, operations.update);
            if (operations.delete.length > 0) {
              const { projectNumber, id } = collection;
              await database.query(deleteSql, [projectNumber, id, operations.delete]);
            }
            const deleted = operations.delete.map((id) => ({ id }));
            return { create: created, update: updated, delete: deleted };
          })
          .catch((error: unknown) => Promise.reject(translateWriteError(error)));
      const growth = {
        records: operations.create.length,
        bytes:
          sum(operations.create.map(({ sizeBytes }) => sizeBytes)) +
          sum(operations.update.map(({ patch }) => patch.maxGrowthBytes)),
      };
      return onCurrentSlots(refresh, { collection }, ({ collection }) => {
        const write = () => writeAll(collection);
        return growth.bytes > 0 ? quota.add(project, growth, write) : write();
      });
    },
  };
};
