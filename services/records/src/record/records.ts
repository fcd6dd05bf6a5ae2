import { ApiError, type ErrorCode } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import type { KeptAnswer } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { V7Generator } from 'uuidv7';
import { type Access, checkChange, checkCreate } from '../collections/access.ts';
import type { Collection, Collections } from '../collections/collections.ts';
import { checkEpoch, onCurrentSlots } from '../collections/current-slots.ts';
import { checkNewFields, visibleNewJson } from '../collections/field-rules.ts';
import { createStatementNames } from '../query/prepared/statement-names.ts';
import type { Reader } from '../reader.ts';
import { startParameters } from '../sql.ts';
import { idTimeMs } from '../timestamps.ts';
import { type Changes, createChanges } from './changes.ts';
import { type ClaimTurns, claimsOf, createClaimTurns } from './claims/claim-turns.ts';
import type { CheckedData } from './data.ts';
import { gatherCalls, maxGatheredBytes } from './gathered/gathered-calls.ts';
import type { Quota } from './quota/quota.ts';
import { mostSideBytes } from './quota/side-bytes.ts';
import { createReadRecord, type ReadRecord } from './read-record.ts';
import {
  createManySql,
  createSql,
  type NewRecord,
  recordPieces,
  toIso,
  type WriteRecords,
  type WrittenRecord,
} from './record-sql.ts';
import { type RecordTarget, translateWriteError } from './refusals.ts';

/** Has the statement store the answer too. */
type KeepRecord = (created: WrittenRecord) => KeptAnswer;

/**
 * Single records. All methods throw ApiError: not_found for what the caller may not see,
 * unauthenticated or forbidden for what they may not do, precondition_failed for another version,
 * invalid_data where the result would exceed the limits, quota_reached, not_unique.
 */
export interface Records extends Changes {
  create(
    project: Identity['project'],
    collection: Collection,
    access: Access,
    data: CheckedData,
    keep?: KeepRecord,
  ): Promise<WrittenRecord>;
  /** @throws FairShareFull too */
  get(target: RecordTarget, reader: Reader): Promise<ReadRecord>;
  /**
   * Creates the record where there is none.
   * @param refuseId why a new record may not have the id; undefined where it may
   */
  upsert(
    target: RecordTarget,
    data: CheckedData,
    refuseId: () => Promise<ApiError | undefined>,
  ): Promise<WrittenRecord & { isNew: boolean }>;
}

export interface RecordsDeps {
  database: Database;
  quota: Quota;
  refresh: Collections['refresh'];
  /** A slot for each large record while PostgreSQL is at it. */
  largeReads: FairShares;
  /** A slot for each large answer that is read or not yet taken. */
  answers: FairShares;
  /** Shared with others that write. */
  claimTurns?: ClaimTurns;
  /** Epoch milliseconds. */
  now: () => number;
}

interface GatheredCreate {
  made: NewRecord;
  /** Creates it by itself. */
  create(): Promise<boolean>;
}

const isRefusedAs = (code: ErrorCode, error: unknown) =>
  error instanceof ApiError && error.code === code;
const isRefused = (error: unknown) =>
  (['quota_reached', 'forbidden', 'unauthenticated', 'not_unique'] as const).some((code) =>
    isRefusedAs(code, error),
  );

/** Whether nothing of what its owner may set shows in the statements of its writes. */
const isUsual = ({ access, slots, unique, search }: Collection) =>
  typeof access === 'string' && slots.length === 0 && unique.length === 0 && !search;

export const createRecords = ({
  database,
  quota,
  refresh,
  largeReads,
  answers,
  claimTurns = createClaimTurns(database),
  now,
}: RecordsDeps): Records => {
  const ids = new V7Generator();
  const nameStatement = createStatementNames('records');
  const write: WriteRecords = (collection, text, { values }) => {
    const statement = nameStatement(text, isUsual(collection) ? 'usual' : 'special');
    return database
      .named<never>(statement.name, statement.text, values)
      .catch((error: unknown) => Promise.reject(translateWriteError(error, collection.unique)));
  };

  const changes = createChanges({ database, quota, claimTurns, write, now });

  const writeCreates = async (
    collection: Collection,
    all: readonly GatheredCreate[],
  ): Promise<boolean> => {
    const [only] = all;
    if (only && all.length === 1) return only.create();
    const { text, parameters } = createManySql(
      collection,
      all.map(({ made }) => made),
    );
    return (await write(collection, text, parameters)).length > 0;
  };
  const gathered = gatherCalls(async (collection: Collection, all: readonly GatheredCreate[]) => {
    const isWritten = await writeCreates(collection, all);
    return all.map(() => isWritten);
  });

  /** Undefined where the id is taken. */
  const insert = async (
    { project, collection, access, id }: RecordTarget,
    data: CheckedData,
    { onConflict, keep }: { onConflict?: string | undefined; keep?: KeepRecord | undefined } = {},
  ): Promise<WrittenRecord | undefined> => {
    const { json, sizeBytes, at, groupId } = data;
    const time = toIso(idTimeMs(id));
    // A record of before may have had the id, and its versions.
    const version = onConflict === undefined ? idTimeMs(id) : Math.max(idTimeMs(id), now());
    const updatedAt = toIso(version);
    const ofGroup = groupId !== undefined && { groupId };
    const ownFields = { id, ownerId: access.userId, ...ofGroup, createdAt: time, updatedAt };
    const record = { pieces: recordPieces(ownFields, visibleNewJson(access, data)), version };
    const kept = keep?.(record);
    const create = async (): Promise<boolean> => {
      const options = { groupId, onConflict, kept, ...(updatedAt !== time && { updatedAt }) };
      const parameters = startParameters(collection, id, access.userId, time, json);
      const text = createSql(collection, parameters, options);
      return (await write(collection, text, parameters)).length > 0;
    };
    const mayJoin = onConflict === undefined && collection.unique.length === 0;
    const isGathered = mayJoin && sizeBytes <= maxGatheredBytes && !database.isInTransaction();
    const made = { id, ownerId: access.userId, createdAt: time, json, groupId, kept };
    const growth = { records: 1, bytes: sizeBytes + mostSideBytes(collection, sizeBytes) };
    const claims = claimsOf(collection.unique, at, access.userId);
    const isWritten = await quota.add(project, growth, () =>
      isGathered
        ? gathered(collection, { made, create })
        : claimTurns.run({ collection, id, claims }, create),
    );
    return isWritten ? record : undefined;
  };

  const upsert: Records['upsert'] = async (target, data, refuseId) => {
    const { id, access } = target;
    if (access.rights.create !== 'all') checkChange(access);
    let refusal: unknown = access.rights.create === 'all' ? await refuseId() : undefined;
    const mayCreate = access.rights.create === 'all' && refusal === undefined;
    if (mayCreate) {
      try {
        checkNewFields(access, data, target);
        const newTarget = { ...target, id: id.toLowerCase() };
        const created = await insert(newTarget, data, { onConflict: 'ON CONFLICT DO NOTHING' });
        if (created) return { ...created, isNew: true };
      } catch (error) {
        // What is there already may be replaced by something smaller, or has the field already.
        if (!isRefused(error)) throw error;
        refusal = error;
      }
    }
    try {
      return { ...(await changes.replace(target, data, undefined)), isNew: false };
    } catch (error) {
      if (!isRefusedAs('not_found', error)) throw error;
      checkCreate(access, target, null);
      throw refusal ?? error;
    }
  };

  return {
    get: createReadRecord({ database, largeReads, answers }),

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

    upsert: (target, data, refuseId) =>
      onCurrentSlots(refresh, target, (current) => upsert(current, data, refuseId)),

    patch: (target, patch, versions) =>
      onCurrentSlots(refresh, target, (current) => changes.patch(current, patch, versions)),

    patchBeyondQuota: (target, patch) =>
      onCurrentSlots(refresh, target, (current) => changes.patchBeyondQuota(current, patch)),

    replace: (target, data, versions) =>
      onCurrentSlots(refresh, target, (current) => changes.replace(current, data, versions)),

    remove: (target, versions) =>
      onCurrentSlots(refresh, target, (current) => changes.remove(current, versions)),
  };
};
