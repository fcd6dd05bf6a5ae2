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
import type { Reader } from '../reader.ts';
import { idTimeMs, toIso } from '../timestamps.ts';
import { createSendChange, type SendChange } from './change/send-change.ts';
import { type Changes, createChanges } from './changes.ts';
import { type ClaimTurns, createClaimTurns } from './claims/claim-turns.ts';
import type { CheckedData } from './data.ts';
import type { Quota } from './quota/quota.ts';
import { createReadRecord, type ReadRecord } from './read-record.ts';
import type { RecordTarget } from './refusals.ts';
import { recordPieces, type WrittenRecord } from './written-record.ts';

/** Has the statement store the answer too. */
type KeepRecord = (created: WrittenRecord) => KeptAnswer;

/**
 * Single records. All methods throw ApiError: not_found for what the caller may not see,
 * unauthenticated or forbidden for what they may not do, precondition_failed for another version,
 * invalid_data where the result would exceed the limits, quota_reached, not_unique.
 */
export interface Records extends Omit<Changes, 'create'> {
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
  /** Default one of its own. */
  send?: SendChange;
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

const isRefusedAs = (code: ErrorCode, error: unknown) =>
  error instanceof ApiError && error.code === code;
const isRefused = (error: unknown) =>
  (['quota_reached', 'forbidden', 'unauthenticated', 'not_unique'] as const).some((code) =>
    isRefusedAs(code, error),
  );

export const createRecords = (deps: RecordsDeps): Records => {
  const { database, refresh, now } = deps;
  const { send = createSendChange(database), claimTurns = createClaimTurns(database) } = deps;
  const ids = new V7Generator();
  const changes = createChanges({ ...deps, send, claimTurns });

  /** Undefined where the id is taken. */
  const insert = async (
    target: RecordTarget,
    data: CheckedData,
    { isIdChosen = false, keep }: { isIdChosen?: boolean; keep?: KeepRecord | undefined } = {},
  ): Promise<WrittenRecord | undefined> => {
    const { access, id } = target;
    const { groupId } = data;
    const createdAt = toIso(idTimeMs(id));
    // A record of before may have had the id, and its versions.
    const version = isIdChosen ? Math.max(idTimeMs(id), now()) : idTimeMs(id);
    const updatedAt = isIdChosen ? toIso(version) : createdAt;
    const ofGroup = groupId !== undefined && { groupId };
    const ownFields = { id, ownerId: access.userId, ...ofGroup, createdAt, updatedAt };
    const record = { pieces: recordPieces(ownFields, visibleNewJson(access, data)), version };
    const isLater = updatedAt !== createdAt && { updatedAt };
    const made = { createdAt, ...isLater, kept: keep?.(record), isIdChosen };
    return (await changes.create(target, data, made)) ? record : undefined;
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
        const created = await insert(newTarget, data, { isIdChosen: true });
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
    get: createReadRecord(deps),

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
