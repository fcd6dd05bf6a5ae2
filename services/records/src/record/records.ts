import { ApiError, type ErrorCode } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import type { KeptAnswer } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { V7Generator } from 'uuidv7';
import { type Access, checkChange, checkCreate, fullAccess } from '../collections/access.ts';
import type { Collection, Collections } from '../collections/collections.ts';
import { checkEpoch, onCurrentSlots } from '../collections/current-slots.ts';
import { checkFilled, checkSent, visibleNewJson } from '../collections/new-fields.ts';
import { hasConditions } from '../collections/terms/terms.ts';
import type { Reader } from '../reader.ts';
import { idTimeMs, toIso } from '../timestamps.ts';
import { createSendChange, type SendChange } from './change/send-change.ts';
import { type Changes, createChanges } from './changes.ts';
import { type ClaimTurns, createClaimTurns } from './claims/claim-turns.ts';
import type { CheckedData } from './data.ts';
import type { Quota } from './quota/quota.ts';
import { createReadRecord, type ReadRecord } from './read-record.ts';
import { isHidden, type RecordTarget } from './refusals.ts';
import type { WriteChecks } from './schema/write-checks.ts';
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
  /**
   * Brings a record back that was deleted, whatever the rules say. @param former whose it was, and its last version
   * @throws ApiError conflict where there is one again
   */
  recreate(
    target: RecordTarget,
    data: CheckedData,
    former: { ownerId: string | null; version: number },
  ): Promise<void>;
}

export interface RecordsDeps {
  database: Database;
  send?: SendChange;
  quota: Quota;
  refresh: Collections['refresh'];
  largeReads: FairShares;
  answers: FairShares;
  claimTurns?: ClaimTurns;
  checks: WriteChecks;
  now: () => number;
}

const isRefusedAs = (code: ErrorCode, error: unknown) =>
  error instanceof ApiError && error.code === code;
/** An upsert is tried again where what was in its way has gone by the time it is looked for. */
const maxTries = 3;

/** Of a new record, where one that is there may be replaced all the same. */
const refusesNew = [
  'quota_reached',
  'limit_reached',
  'rate_limited',
  'forbidden',
  'unauthenticated',
  'not_unique',
] as const;
const isRefused = (error: unknown) => refusesNew.some((code) => isRefusedAs(code, error));

export const createRecords = (deps: RecordsDeps): Records => {
  const { database, refresh, checks, now } = deps;
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
    const visible = visibleNewJson(access, { ...data, id });
    const record = { pieces: recordPieces(ownFields, visible), version };
    const isLater = updatedAt !== createdAt && { updatedAt };
    const made = { createdAt, ...isLater, kept: keep?.(record), isIdChosen };
    return (await changes.create(target, data, made)) ? record : undefined;
  };

  /** Undefined where what was in its way is gone, be it a record or the lack of one. */
  const tryUpsert = async (
    ...[target, data, refuseId]: Parameters<Records['upsert']>
  ): Promise<Awaited<ReturnType<Records['upsert']>> | undefined> => {
    const { id, access } = target;
    const { create } = access.rights;
    const mayAdmit = create === 'all' || hasConditions(create);
    if (!mayAdmit) checkChange(access);
    let refusal: unknown = mayAdmit ? await refuseId() : undefined;
    let made = { ...data, id };
    if (mayAdmit && refusal === undefined) {
      try {
        checkSent(access, data, target);
        const newTarget = { ...target, id: id.toLowerCase() };
        made = { ...(await checks.created(newTarget, data)), id };
        checkFilled(access, data, made, target);
        const created = await insert(newTarget, made, { isIdChosen: true });
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
      checkCreate(access, target, made);
      if (refusal !== undefined) throw refusal;
      if (!mayAdmit || (await isHidden(database, target))) throw error;
      return undefined;
    }
  };

  const upsert: Records['upsert'] = async (target, data, refuseId) => {
    for (let tries = 0; tries < maxTries; tries++) {
      const written = await tryUpsert(target, data, refuseId);
      if (written) return written;
    }
    throw new ApiError('conflict', 'This record changes too often just now. Try again.');
  };

  return {
    get: createReadRecord(deps),

    async create(project, collection, access, data, keep) {
      checkSent(access, data, { project, collection });
      const id = ids.generateOrResetWithTs(now()).toString();
      const target = { project, collection, access, id };
      return onCurrentSlots(refresh, target, async (target) => {
        const filled = await checks.created(target, data);
        checkFilled(access, data, { ...filled, id }, target);
        const created = await insert(target, filled, { keep });
        if (created) return created;
        await checkEpoch(database, target.collection);
        throw new Error(`The id ${id} was there already.`);
      });
    },

    upsert: (target, data, refuseId) =>
      onCurrentSlots(refresh, target, (current) => upsert(current, data, refuseId)),

    recreate: (target, data, { ownerId, version }) =>
      onCurrentSlots(refresh, target, async (current) => {
        const { collection, id } = current;
        const writing = { ...current, access: fullAccess(collection.access) };
        const filled = (await checks.replaced(writing, data)).data;
        const updatedAt = toIso(Math.max(now(), version + 1));
        const made = { createdAt: toIso(idTimeMs(id)), updatedAt, isIdChosen: true, ownerId };
        if (await changes.create(current, filled, made)) return;
        await checkEpoch(database, collection);
        throw new ApiError('conflict', 'There is such a record again.');
      }),

    patch: (target, patch, versions) =>
      onCurrentSlots(refresh, target, (current) => changes.patch(current, patch, versions)),

    patchBeyondQuota: (target, patch, undeclared) =>
      onCurrentSlots(refresh, target, (current) =>
        changes.patchBeyondQuota(current, patch, undeclared),
      ),

    replace: (target, data, versions) =>
      onCurrentSlots(refresh, target, (current) => changes.replace(current, data, versions)),

    remove: (target, versions) =>
      onCurrentSlots(refresh, target, (current) => changes.remove(current, versions)),
  };
};
