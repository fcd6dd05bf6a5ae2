import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import type { KeptAnswer } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { V7Generator } from 'uuidv7';
import { type Access, fullAccess } from '../collections/access.ts';
import type { Collection, Collections } from '../collections/collections.ts';
import { checkEpoch, onCurrentSlots } from '../collections/current-slots.ts';
import { checkFilled, checkSent, visibleNewJson } from '../collections/new-fields.ts';
import { countsFor } from '../collections/stored/record-counts.ts';
import type { Reader } from '../reader.ts';
import { idTimeMs, toIso } from '../timestamps.ts';
import { batchChanges } from './batched-changes.ts';
import type { Creation, NewRecord } from './change/change.ts';
import { createSendChange, type SendChange } from './change/send-change.ts';
import { mostSideBytes } from './change/side-effects.ts';
import { type Changes, createChanges } from './changes.ts';
import { type ClaimTurns, createClaimTurns, toClaims } from './claims/claim-turns.ts';
import type { CheckedData } from './data.ts';
import { withinLimits } from './limited-creates.ts';
import type { Quota } from './quota/quota.ts';
import { createReadRecord, type ReadRecord } from './read-record.ts';
import { checkNewSize } from './record-size.ts';
import type { RecordTarget } from './refusals.ts';
import type { WriteChecks } from './schema/write-checks.ts';
import { createUpsert, type Upsert } from './upsert.ts';
import { recordPieces, type WrittenRecord } from './written-record.ts';

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
  /** Creates the record where there is none. */
  upsert: Upsert;
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

interface Made
  extends Pick<NewRecord, 'createdAt' | 'updatedAt' | 'kept'>,
    Pick<Creation, 'isIdChosen'> {
  /** Default the caller. */
  ownerId?: string | null;
}

interface InsertOptions {
  isIdChosen?: boolean;
  keep?: KeepRecord | undefined;
}

export const createRecords = (deps: RecordsDeps): Records => {
  const { database, refresh, quota, checks, now } = deps;
  const { claimTurns = createClaimTurns(database) } = deps;
  const send: SendChange = deps.send ?? createSendChange(database);
  const ids = new V7Generator();
  const batched = batchChanges(send, () => !database.isInTransaction());
  const changes = createChanges({ ...deps, send, claimTurns, batched });

  /** @returns whether it is written: an id that the client chose may be taken */
  const write = async (
    target: RecordTarget,
    data: CheckedData,
    { isIdChosen, ...made }: Made,
  ): Promise<boolean> => {
    checkNewSize(target, data);
    const { project, collection, access, id } = target;
    const { json: dataJson, sizeBytes, at, groupId } = data;
    const { ownerId = access.userId } = made;
    const record = { ...made, id, ownerId, dataJson, groupId };
    const all = countsFor(collection.limits, { ...access, userId: ownerId }, now());
    const counts = ownerId === access.userId ? all : all.filter(({ since }) => since === null);
    const change: Creation = {
      kind: 'create',
      collection,
      records: [record],
      isIdChosen,
      counts,
      source: access.source,
    };
    const claims = toClaims(collection.unique, { at, ownerId, groupId });
    const sendOne = async () => (await send<{ id: string }>(change))[0];
    const alone = () => claimTurns.run({ collection, id, claims }, sendOne);
    const growth = { records: 1, bytes: sizeBytes + mostSideBytes(change, sizeBytes) };
    const isWritten = async () => (await batched({ change, alone })) !== undefined;
    return quota.add(project, growth, () => withinLimits(database, target, change, isWritten));
  };

  /** Undefined where the id is taken. */
  const insert = async (
    target: RecordTarget,
    data: CheckedData,
    { isIdChosen = false, keep }: InsertOptions = {},
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
    return (await write(target, data, made)) ? record : undefined;
  };

  const upsert = createUpsert({ database, checks, insert, replace: changes.replace });

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
        if (await write(current, filled, made)) return;
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
