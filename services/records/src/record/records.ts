import { ApiError, type ErrorCode, isUuid } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import type { KeptAnswer } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { V7Generator } from 'uuidv7';
import { joinSides } from '../building/side-sql.ts';
import { type Access, checkChange, checkCreate } from '../collections/access.ts';
import type { Collection, Collections } from '../collections/collections.ts';
import {
  type ChangedFields,
  checkNewFields,
  freeFieldsSql,
  keptFieldsSql,
} from '../collections/field-rules.ts';
import { recordsTable } from '../giants/records-table.ts';
import type { Reader } from '../list/reader.ts';
import { forgetWordsSql, keepWordsSql } from '../search/search-words.ts';
import { checkEpoch, onCurrentSlots } from '../slots/current-slots.ts';
import { isCurrentSql, slotAssignments } from '../slots/slots.ts';
import { and, type Parameters, startParameters } from '../sql.ts';
import { idTimeMs } from '../timestamps.ts';
import { claimChangedSql, freeDeletedSql, lockRecord, touchedFields } from '../unique/claims.ts';
import type { CheckedData } from './data.ts';
import { gatherWrites } from './gathered-writes.ts';
import {
  changedFields,
  changesField,
  type Patch,
  patchAction,
  patchSql,
  uncountableSql,
} from './patch.ts';
import type { Quota } from './quota/quota.ts';
import { mostSideBytes, mostSideGrowth } from './quota/side-bytes.ts';
import { createReadRecord } from './read-record.ts';
import {
  changeableRow,
  countedSql,
  createManySql,
  createSql,
  joinRecordJson,
  type NewRecord,
  type RecordJson,
  targetParameters,
  toIso,
  type UpdatedRow,
  updatedRecord,
  updatedSql,
  updateSql,
  withinRoom,
} from './record-sql.ts';
import {
  type AcceptedVersions,
  explainRefusal,
  type Reasons,
  type RecordTarget,
  translateWriteError,
} from './refusals.ts';
import { unsharedSql } from './shares.ts';
import { createStatementNames } from './statements/statement-names.ts';

/** Has the statement store the answer too. */
type KeepRecord = (created: RecordJson) => KeptAnswer;

/**
 * Single records. All methods throw ApiError: not_found for what the caller may not see,
 * unauthenticated or forbidden for what they may not do, precondition_failed for another version,
 * invalid_data where the result would exceed the limits, quota_reached, not_unique.
 */
export interface Records {
  create(
    project: Identity['project'],
    collection: Collection,
    access: Access,
    data: CheckedData,
    keep?: KeepRecord,
  ): Promise<RecordJson>;
  /** @throws FairShareFull too */
  get(target: RecordTarget, reader: Reader): Promise<RecordJson & { release?: () => void }>;
  patch(target: RecordTarget, patch: Patch, versions: AcceptedVersions): Promise<RecordJson>;
  /** For what the platform itself writes. */
  patchBeyondQuota(target: RecordTarget, patch: Patch): Promise<RecordJson>;
  replace(target: RecordTarget, data: CheckedData, versions: AcceptedVersions): Promise<RecordJson>;
  /** Creates the record where there is none. @throws ApiError invalid_path where its id is no new UUIDv7 */
  upsert(target: RecordTarget, data: CheckedData): Promise<RecordJson>;
  remove(target: RecordTarget, versions: AcceptedVersions): Promise<void>;
}

export interface RecordsDeps {
  database: Database;
  quota: Quota;
  refresh: Collections['refresh'];
  scans: FairShares;
  /** A slot for each large answer that is read or not yet taken. */
  answers: FairShares;
  /** Epoch milliseconds. */
  now: () => number;
}

interface ChangeConditions extends Reasons {
  /** How much larger the record may become, where that is asked. */
  roomBytes?: number | undefined;
}

interface GatheredCreate {
  made: NewRecord;
  /** Creates it by itself. */
  create(): Promise<boolean>;
}

/** A larger one would keep those waiting that are written with it. */
const maxGatheredBytes = 64 * 1024;

/** A record's id is the time of its creation: a client that makes one may be offline for a day. */
const oldestNewIdMs = 24 * 60 * 60_000;
const clockDifferenceMs = 60_000;
const newIdRule =
  'A new record takes a UUIDv7 as its id that is at most 24 hours old and at most a minute ahead.';
const isNewId = (id: string, now: number) =>
  isUuid(id) &&
  id[14] === '7' &&
  idTimeMs(id) >= now - oldestNewIdMs &&
  idTimeMs(id) <= now + clockDifferenceMs;

const isRefusedAs = (code: ErrorCode, error: unknown) =>
  error instanceof ApiError && error.code === code;
const isRefused = (error: unknown) =>
  (['quota_reached', 'forbidden', 'unauthenticated'] as const).some((code) =>
    isRefusedAs(code, error),
  );

/** A change is tried again where the reason for its refusal has gone by the time it is looked for. */
const maxTries = 3;

/** A document instead of another names all of its fields. */
const replacedFields = (json: string, has: CheckedData['has']): ChangedFields => ({
  names: has,
  sql(parameters) {
    const given = parameters.add(json, 'jsonb');
    return { given, result: given, unset: `'{}'::text[]`, inc: `'{}'::jsonb` };
  },
});

export const createRecords = ({
  database,
  quota,
  refresh,
  scans,
  answers,
  now,
}: RecordsDeps): Records => {
  const ids = new V7Generator();
  const nameStatement = createStatementNames('records');
  const write = <Row>(
    { unique }: Collection,
    text: string,
    { values }: Parameters,
  ): Promise<Row[]> => {
    const statement = nameStatement(text);
    return database
      .named<Row>(statement.name, statement.text, values)
      .catch((error: unknown) => Promise.reject(translateWriteError(error, unique)));
  };

  const gathered = gatherWrites<Collection, GatheredCreate>(async (collection, all) => {
    const [only] = all;
    if (only && all.length === 1) return only.create();
    const { text, parameters } = createManySql(
      collection,
      all.map(({ made }) => made),
    );
    return (await write(collection, text, parameters)).length > 0;
  });

  /** Runs a change of one record, which is locked before where tables beside it change too. */
  const afterLock = <T>(
    { collection, id }: RecordTarget,
    isNeeded: boolean,
    work: () => Promise<T>,
  ): Promise<T> =>
    isNeeded
      ? database.transaction(async () => {
          await lockRecord(database, collection, id);
          return work();
        })
      : work();

  const change = async <Row>(
    target: RecordTarget,
    text: string,
    parameters: Parameters,
    { roomBytes, ...reasons }: ChangeConditions,
  ): Promise<Row> => {
    for (let tries = 0; tries < maxTries; tries++) {
      const [changed] = await write<Row>(target.collection, text, parameters);
      if (changed) return changed;
      await checkEpoch(database, target.collection);
      await explainRefusal(database, target, reasons);
      if (roomBytes !== undefined) return quota.refuse(target.project);
    }
    throw new ApiError('conflict', 'This record changes too often just now. Try again.');
  };

  const update = async (
    target: RecordTarget,
    isLocked: boolean,
    text: string,
    parameters: Parameters,
    conditions: ChangeConditions,
  ): Promise<RecordJson> => {
    const work = () => change<UpdatedRow>(target, text, parameters, conditions);
    return updatedRecord(await afterLock(target, isLocked, work));
  };

  /** Undefined where the id is taken. */
  const insert = async (
    { project, collection, access, id }: RecordTarget,
    { json, sizeBytes, groupId }: CheckedData,
    { onConflict, keep }: { onConflict?: string | undefined; keep?: KeepRecord | undefined } = {},
  ): Promise<RecordJson | undefined> => {
    const version = idTimeMs(id);
    const time = toIso(version);
    const ofGroup = groupId !== undefined && { groupId };
    const ownFields = { id, ownerId: access.userId, ...ofGroup, createdAt: time, updatedAt: time };
    const record = { json: joinRecordJson(ownFields, json), version };
    const kept = keep?.(record);
    const create = async (): Promise<boolean> => {
      const options = { groupId, onConflict, kept };
      const parameters = startParameters(collection, id, access.userId, time, json);
      const text = createSql(collection, parameters, options);
      return (await write(collection, text, parameters)).length > 0;
    };
    const mayJoin = onConflict === undefined && collection.unique.length === 0;
    const isGathered = mayJoin && sizeBytes <= maxGatheredBytes && !database.isInTransaction();
    const made = { id, ownerId: access.userId, createdAt: time, json, groupId, kept };
    const growth = { records: 1, bytes: sizeBytes + mostSideBytes(collection, sizeBytes) };
    const isWritten = await quota.add(project, growth, () =>
      isGathered ? gathered(collection, { made, create }) : create(),
    );
    return isWritten ? record : undefined;
  };

  /** What the caller may not see or change stays. */
  const replace: Records['replace'] = async (target, { json, sizeBytes, has }, versions) => {
    const { access } = target;
    checkChange(access);
    const growthBytes = sizeBytes + mostSideGrowth(target.collection, sizeBytes);
    return quota.change(target.project, growthBytes, async (roomBytes) => {
      const parameters = targetParameters(target);
      const given = parameters.add(json, 'jsonb');
      const kept = keptFieldsSql(access, parameters);
      const data = kept === undefined ? given : `(${given} || ${kept})`;
      const { slots, unique } = target.collection;
      const keys = slotAssignments(slots, data, parameters);
      const touched = touchedFields(unique);
      const sides = joinSides(
        claimChangedSql(touched, 'changed', parameters, { claimsNew: true }),
        keepWordsSql(target.collection, 'changed', parameters),
      );
      const statement = updateSql(target.collection, data, keys, now(), parameters);
      const fields = replacedFields(json, has);
      const matches = and([
        changeableRow(target, 'change', versions, parameters),
        freeFieldsSql(access, fields, parameters),
        isCurrentSql(target.collection, parameters),
      ]);
      const where = withinRoom(target.collection, matches, data, roomBytes, parameters);
      const text = updatedSql(statement, where, target, sides, parameters);
      const reasons = { action: 'change', versions, fields, roomBytes } as const;
      return update(target, touched.length > 0, text, parameters, reasons);
    });
  };

  const applyPatch = (
    target: RecordTarget,
    changes: Patch,
    versions: AcceptedVersions,
    roomBytes: number | undefined,
  ): Promise<RecordJson> => {
    const parameters = targetParameters(target);
    const { data, condition } = patchSql(changes, parameters);
    const { slots, unique } = target.collection;
    const isChanged = changesField(changes);
    const keys = slotAssignments(slots, data, parameters, isChanged);
    const touched = touchedFields(unique, isChanged);
    const sides = joinSides(
      claimChangedSql(touched, 'changed', parameters, { claimsNew: true }),
      keepWordsSql(target.collection, 'changed', parameters, isChanged),
    );
    const statement = updateSql(target.collection, data, keys, now(), parameters);
    const fields = changedFields(changes);
    const action = patchAction(target.access, changes);
    const added = () => parameters.add(JSON.stringify(changes.inc), 'jsonb');
    const matches = and([
      changeableRow(target, action, versions, parameters),
      action === 'count'
        ? `${uncountableSql(target.access, added(), parameters)} IS NULL`
        : undefined,
      freeFieldsSql(target.access, fields, parameters),
      condition,
      isCurrentSql(target.collection, parameters),
    ]);
    const where = withinRoom(target.collection, matches, data, roomBytes, parameters, isChanged);
    const text = updatedSql(statement, where, target, sides, parameters);
    const reasons = { action, versions, inc: changes.inc, fields, roomBytes };
    return update(target, touched.length > 0, text, parameters, reasons);
  };

  const patch: Records['patch'] = async (target, changes, versions) => {
    checkChange(target.access, patchAction(target.access, changes));
    const { maxGrowthBytes } = changes;
    const sideBytes = mostSideGrowth(target.collection, maxGrowthBytes, changesField(changes));
    return quota.change(target.project, maxGrowthBytes + sideBytes, (roomBytes) =>
      applyPatch(target, changes, versions, roomBytes),
    );
  };

  const upsert = async (target: RecordTarget, data: CheckedData): Promise<RecordJson> => {
    const { id, access } = target;
    if (access.rights.create !== 'all') checkChange(access);
    const mayCreate = access.rights.create === 'all' && isNewId(id, now());
    let refusal: unknown;
    if (mayCreate) {
      try {
        checkNewFields(access, data, target);
        const newTarget = { ...target, id: id.toLowerCase() };
        const created = await insert(newTarget, data, { onConflict: 'ON CONFLICT DO NOTHING' });
        if (created) return created;
      } catch (error) {
        // What is there already may be replaced by something smaller, or has the field already.
        if (!isRefused(error)) throw error;
        refusal = error;
      }
    }
    try {
      return await replace(target, data, undefined);
    } catch (error) {
      if (!isRefusedAs('not_found', error)) throw error;
      checkCreate(access, target, null);
      if (refusal !== undefined) throw refusal;
      throw mayCreate ? error : new ApiError('invalid_path', newIdRule);
    }
  };

  return {
    get: createReadRecord({ database, refresh, scans, answers }),

    async create(project, collection, access, data, keep) {
      checkCreate(access, { project, collection }, data.groupId ?? null);
      checkNewFields(access, data, { project, collection });
      const id = ids.generateOrResetWithTs(now()).toString();
      const target = { project, collection, access, id };
      return onCurrentSlots(refresh, target, async (target) => {
        const created = await insert(target, data, { keep });
        if (created) return created;
        await checkEpoch(database, target.collection);
        throw new Error(`The id ${id} was there already.`);
      });
    },

    upsert: (target, data) => onCurrentSlots(refresh, target, (current) => upsert(current, data)),

    patch: (target, changes, versions) =>
      onCurrentSlots(refresh, target, (current) => patch(current, changes, versions)),

    patchBeyondQuota: (target, changes) =>
      onCurrentSlots(refresh, target, (current) =>
        applyPatch(current, changes, undefined, undefined),
      ),

    replace: (target, data, versions) =>
      onCurrentSlots(refresh, target, (current) => replace(current, data, versions)),

    remove: (target, versions) =>
      onCurrentSlots(refresh, target, async (target) => {
        checkChange(target.access, 'delete');
        const parameters = targetParameters(target);
        const { collection } = target;
        const { unique, search } = collection;
        const where = and([
          changeableRow(target, 'delete', versions, parameters),
          isCurrentSql(target.collection, parameters),
        ]);
        const sides = joinSides(
          freeDeletedSql(unique, 'changed', parameters),
          forgetWordsSql(collection, 'changed', parameters),
        );
        const text = countedSql(
          collection,
          `DELETE FROM ${recordsTable(collection)} WHERE ${where} RETURNING id, -size_bytes AS growth${sides.returned}`,
          -1,
          'id',
          `${sides.tables}${unsharedSql('record_id = $3', 'changed')}`,
        );
        const reasons = { action: 'delete', versions } as const;
        await afterLock(target, unique.length > 0 || search !== undefined, () =>
          change(target, text, parameters, reasons),
        );
      }),
  };
};
