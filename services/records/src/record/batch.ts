import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { V7Generator } from 'uuidv7';
import {
  type Access,
  changeForbidden,
  checkChange,
  checkCreate,
  countForbidden,
  type Place,
  recordNotFound,
} from '../collections/access.ts';
import type { Collection, Collections } from '../collections/collections.ts';
import { checkEpoch, onCurrentSlots, StaleSlots } from '../collections/current-slots.ts';
import { checkNewFields, fieldForbidden, refusedFieldSql } from '../collections/field-rules.ts';
import {
  claimChangedSql,
  claimValues,
  freeDeletedSql,
  notUnique,
  touchedFields,
} from '../collections/stored/claims.ts';
import { forgetWordsSql, keepWordsSql, touchesWords } from '../collections/stored/search-words.ts';
import { countGrowthSql, joinSides } from '../collections/stored/side-sql.ts';
import { isCurrentSql, slotAssignments } from '../collections/stored/slots.ts';
import {
  inCollection,
  nextVersionSql,
  type Parameters,
  startParameters,
  versionSql,
} from '../sql.ts';
import { idTimeMs } from '../timestamps.ts';
import { type Claim, type ClaimTurns, claimsOf } from './claims/claim-turns.ts';
import type { CheckedData } from './data.ts';
import { type LockedRow, lockRecords } from './lock-records.ts';
import {
  changesField,
  mergedSql,
  noNumberSql,
  type Patch,
  patchAction,
  sumsSql,
  uncountableSql,
} from './patch.ts';
import type { Quota } from './quota/quota.ts';
import { mostBatchGrowth } from './quota/side-bytes.ts';
import { createManySql, toIso } from './record-sql.ts';
import { explainRefusal, translateWriteError } from './refusals.ts';
import { unsharedSql } from './share-rows.ts';

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
   * quota_reached, not_unique
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
  claimTurns: ClaimTurns;
  /** Epoch milliseconds. */
  now: () => number;
}

/** The error with the operation that it is about, such as `update[3]`, before its message. */
export const inOperation = (operation: string, error: unknown): unknown => {
  if (!(error instanceof ApiError)) return error;
  const { code, message, hint, cause } = error;
  return new ApiError(code, `${operation}: ${message}`, { cause, ...(hint && { hint }) });
};

interface UpdatedRow {
  id: string;
  version: number;
  /** Bytes, of all together. */
  growth: number;
}

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

/** Of locked records. @throws ApiError unauthenticated, forbidden where one may only be counted and has no such number */
const checkCounts = async (
  database: Database,
  place: Place & { collection: Collection },
  access: Access,
  updates: Updates,
): Promise<void> => {
  if (!updates.some(({ patch }) => patchAction(access, patch) === 'count')) return;
  const parameters = startParameters(place.collection, ...updateParameters(updates));
  const rows = await database.query<{ id: string; field: string | null }>(
    `SELECT records.id, ${uncountableSql(access, 'change.inc', parameters)} AS field
     FROM records JOIN ${changesSql} USING (id) WHERE ${inCollection}`,
    parameters.values,
  );
  const fields = new Map(rows.map(({ id, field }) => [id, field]));
  for (const [index, { id }] of updates.entries()) {
    const field = fields.get(id);
    if (field) throw inOperation(`update[${index}]`, countForbidden(access, field, place));
  }
};

const updatedDataSql = `(${mergedSql('change.data')} || ${sumsSql('change.inc')}) - change.unset`;

const updateSql = (
  collection: Collection,
  patches: readonly Patch[],
  parameters: Parameters,
): string => {
  const { slots, unique } = collection;
  const isChanged = (field: string) => patches.some((patch) => changesField(patch)(field));
  const keys = slotAssignments(slots, `(${updatedDataSql})`, parameters, isChanged);
  const touched = touchedFields(unique, isChanged);
  const sides = joinSides(
    claimChangedSql(touched, 'changed', parameters, { claimsNew: false }),
    keepWordsSql(collection, 'changed', parameters, isChanged),
  );
  const grown = touchesWords(collection, isChanged) ? ['changed', 'searched'] : ['changed'];
  const growth = grown.map((table) => `(SELECT coalesce(sum(growth), 0) FROM ${table})`);
  return `WITH changed AS (
    UPDATE records SET
      data = ${updatedDataSql}${keys},
      updated_at = ${nextVersionSql('$7::timestamptz')}
    FROM ${changesSql}
    WHERE ${inCollection} AND records.id = change.id
      AND NOT ${noNumberSql('change.inc')} AND ${isCurrentSql(collection, parameters)}
    RETURNING records.id, updated_at, new.size_bytes - old.size_bytes AS growth${sides.returned}),
  counted AS (
    ${countGrowthSql('changed')})${sides.tables}
  SELECT id, ${versionSql} AS version, (${growth.join(' + ')})::int8 AS growth FROM changed`;
};

/** Deletes nothing where the collection's slots or unique fields have changed. */
export const deleteSql = (collection: Collection, parameters: Parameters): string => {
  const sides = joinSides(
    freeDeletedSql(collection.unique, 'deleted', parameters),
    forgetWordsSql(collection, 'deleted', parameters),
  );
  return `WITH deleted AS (
    DELETE FROM records WHERE ${inCollection} AND id = ANY ($3::uuid[]) AND ${isCurrentSql(collection, parameters)}
    RETURNING id, size_bytes${sides.returned})${sides.tables}${unsharedSql('record_id = ANY ($3::uuid[])', 'deleted')}
  INSERT INTO count_delta (project_id, coll_id, d, bytes)
  SELECT $1, $2, -count(*), -sum(size_bytes) FROM deleted HAVING count(*) > 0 RETURNING d`;
};

/** The values that a batch claims, as far as they are known. */
const claimedBy = (
  { unique }: Collection,
  { userId }: Access,
  { create, update }: BatchOperations,
): Claim[] => [
  ...create.flatMap(({ at }) => claimsOf(unique, at, userId)),
  ...update.flatMap(({ patch }) => claimsOf(touchedFields(unique, changesField(patch)), patch.at)),
];

export const createBatches = ({
  database,
  quota,
  refresh,
  claimTurns,
  now,
}: BatchDeps): Batches => {
  const ids = new V7Generator();

  const create = async (
    collection: Collection,
    { userId }: Access,
    documents: readonly CheckedData[],
  ): Promise<Written[]> => {
    if (documents.length === 0) return [];
    const at = now();
    const made = documents.map(({ json, groupId }) => {
      const id = ids.generateOrResetWithTs(at).toString();
      return { id, ownerId: userId, createdAt: toIso(idTimeMs(id)), json, groupId };
    });
    const { text, parameters } = createManySql(collection, made);
    const written = await database.query(text, parameters.values);
    if (written.length === 0) throw new StaleSlots();
    return made.map(({ id, createdAt }) => ({ id, updatedAt: createdAt }));
  };

  const update = async (
    project: Identity['project'],
    collection: Collection,
    access: Access,
    updates: BatchOperations['update'],
    roomBytes: number | undefined,
  ): Promise<Written[]> => {
    if (updates.length === 0) return [];
    await checkUpdatedFields(database, { project, collection }, access, updates);
    await checkCounts(database, { project, collection }, access, updates);
    const parameters = startParameters(collection, ...updateParameters(updates), toIso(now()));
    const patches = updates.map(({ patch }) => patch);
    const text = updateSql(collection, patches, parameters);
    const changed = await database.query<UpdatedRow>(text, parameters.values);
    if (changed.length < updates.length) await checkEpoch(database, collection);
    if (roomBytes !== undefined && changed[0] && changed[0].growth > roomBytes)
      return quota.refuse(project);
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

  const remove = async (collection: Collection, targets: readonly string[]) => {
    if (targets.length === 0) return [];
    const parameters = startParameters(collection, targets);
    const text = deleteSql(collection, parameters);
    const deleted = await database.query(text, parameters.values);
    if (deleted.length === 0) throw new StaleSlots();
    return targets.map((id) => ({ id }));
  };

  /** Last, when all that the batch frees is free. @throws ApiError not_unique */
  const claim = async (
    collection: Collection,
    { update }: BatchOperations,
    created: readonly Written[],
  ) => {
    const { unique } = collection;
    const changes = update.some(
      ({ patch }) => touchedFields(unique, changesField(patch)).length > 0,
    );
    if (unique.length === 0 || (created.length === 0 && !changes)) return;
    const operations = new Map([
      ...created.map(({ id }, i) => [id, `create[${i}]`] as const),
      ...update.map(({ id }, i) => [id, `update[${i}]`] as const),
    ]);
    const [taken] = await claimValues(database, collection, unique, [...operations.keys()]);
    if (taken) throw inOperation(operations.get(taken.id) ?? '', notUnique(taken.field));
  };

  /** @throws ApiError */
  const checkLocked = (
    locked: ReadonlyMap<string, LockedRow>,
    access: Access,
    place: Place,
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
      for (const { patch } of operations.update) checkChange(access, patchAction(access, patch));
      if (operations.delete.length > 0) checkChange(access, 'delete');
      const targets = [...operations.update.map(({ id }) => id), ...operations.delete];
      const writeAll = (collection: Collection, roomBytes?: number) =>
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
            const updated = await update(project, collection, access, operations.update, roomBytes);
            const deleted = await remove(collection, operations.delete);
            await claim(collection, operations, created);
            return { create: created, update: updated, delete: deleted };
          })
          .catch((error: unknown) => Promise.reject(translateWriteError(error, collection.unique)));
      return onCurrentSlots(refresh, { collection }, ({ collection }) => {
        const growth = mostBatchGrowth(collection, operations);
        const claims = claimedBy(collection, access, operations);
        const write = (roomBytes?: number) =>
          claimTurns.wait({ collection, claims }, () => writeAll(collection, roomBytes));
        if (growth.records > 0) return quota.add(project, growth, () => write());
        return growth.bytes > 0 ? quota.change(project, growth.bytes, write) : write();
      });
    },
  };
};
