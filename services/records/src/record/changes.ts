import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { checkChange } from '../collections/access.ts';
import { checkEpoch } from '../collections/current-slots.ts';
import { lockRecord, touchedFields } from '../collections/stored/claims.ts';
import { batchChanges } from './batched/batched-changes.ts';
import type { Creation, Deletion, NewRecord, Update } from './change/change.ts';
import type { ChangedRow } from './change/change-sql.ts';
import { editedFields } from './change/rows-sql.ts';
import type { SendChange } from './change/send-change.ts';
import { mostSideBytes, needsLock } from './change/side-effects.ts';
import { type ClaimTurns, claimsOf } from './claims/claim-turns.ts';
import type { CheckedData } from './data.ts';
import { changesField, type Patch, patchAction } from './patch.ts';
import type { Quota } from './quota/quota.ts';
import { type AcceptedVersions, checkId, explainRefusal, type RecordTarget } from './refusals.ts';
import { changedRecord, type WrittenRecord } from './written-record.ts';

/** Changes of single records. They throw as those of `Records` do. */
export interface Changes {
  /** @returns whether it is written: an id that the client chose may be taken */
  create(
    target: RecordTarget,
    data: CheckedData,
    made: Pick<NewRecord, 'createdAt' | 'updatedAt' | 'kept'> & Pick<Creation, 'isIdChosen'>,
  ): Promise<boolean>;
  patch(target: RecordTarget, patch: Patch, versions: AcceptedVersions): Promise<WrittenRecord>;
  /** For what the platform itself writes. */
  patchBeyondQuota(target: RecordTarget, patch: Patch): Promise<WrittenRecord>;
  replace(
    target: RecordTarget,
    data: CheckedData,
    versions: AcceptedVersions,
  ): Promise<WrittenRecord>;
  remove(target: RecordTarget, versions: AcceptedVersions): Promise<void>;
}

interface ChangesDeps {
  database: Database;
  quota: Quota;
  claimTurns: ClaimTurns;
  send: SendChange;
  /** Epoch milliseconds. */
  now: () => number;
}

/** A change is tried again where the reason for its refusal has gone by the time it is looked for. */
const maxTries = 3;

const withRoom = (change: Update, roomBytes: number | undefined): Update =>
  change.by && roomBytes !== undefined ? { ...change, by: { ...change.by, roomBytes } } : change;

export const createChanges = ({ database, send, quota, claimTurns, now }: ChangesDeps): Changes => {
  const batched = batchChanges(send, () => !database.isInTransaction());

  const explain = (target: RecordTarget, change: Update | Deletion): Promise<void> => {
    const { action = 'change', versions } = change.by ?? {};
    const reasons = { action, versions };
    if (change.kind === 'delete') return explainRefusal(database, target, reasons);
    const inc = change.edits[0]?.inc ?? {};
    return explainRefusal(database, target, { ...reasons, inc, fields: editedFields(change) });
  };

  /** @throws ApiError that says what keeps it from being made */
  const sendOrExplain = async <Row>(
    target: RecordTarget,
    change: Update | Deletion,
  ): Promise<Row> => {
    for (let tries = 0; tries < maxTries; tries++) {
      const [changed] = await send<Row>(change);
      if (changed) return changed;
      await checkEpoch(database, target.collection);
      await explain(target, change);
      if (change.by?.roomBytes !== undefined) return quota.refuse(target.project);
    }
    throw new ApiError('conflict', 'This record changes too often just now. Try again.');
  };

  /** With the record locked before, where what follows from the change asks for it. */
  const sendLocked = <Row>(target: RecordTarget, change: Update | Deletion): Promise<Row> =>
    needsLock(change)
      ? database.transaction(async () => {
          await lockRecord(database, target.collection, target.id);
          return sendOrExplain<Row>(target, change);
        })
      : sendOrExplain<Row>(target, change);

  const update = async (
    target: RecordTarget,
    change: Update,
    at: CheckedData['at'],
  ): Promise<WrittenRecord> => {
    checkId(target);
    const claimed = {
      collection: target.collection,
      id: target.id,
      claims: claimsOf(touchedFields(change), at),
      refuse: () => explain(target, change),
    };
    const alone = () => claimTurns.run(claimed, () => sendLocked<ChangedRow>(target, change));
    return changedRecord(await batched({ change, alone }));
  };

  const create: Changes['create'] = async (target, data, { isIdChosen, ...made }) => {
    const { project, collection, access, id } = target;
    const { json: dataJson, sizeBytes, at, groupId } = data;
    const record = { id, ownerId: access.userId, dataJson, groupId, ...made };
    const change: Creation = { kind: 'create', collection, records: [record], isIdChosen };
    const claims = claimsOf(collection.unique, at, access.userId);
    const sendOne = async () => (await send<{ id: string }>(change))[0];
    const alone = () => claimTurns.run({ collection, id, claims }, sendOne);
    const growth = { records: 1, bytes: sizeBytes + mostSideBytes(change, sizeBytes) };
    return quota.add(project, growth, async () => (await batched({ change, alone })) !== undefined);
  };

  const replacing = ({ collection, access, id }: RecordTarget, data: CheckedData): Update => ({
    kind: 'update',
    how: 'replace',
    collection,
    edits: [{ id, dataJson: data.json, unset: [], inc: {} }],
    names: data.has,
    now: now(),
    by: { access, action: 'change' },
  });

  const patching = ({ collection, access, id }: RecordTarget, patch: Patch): Update => {
    const { dataJson, unset, inc, isDeep } = patch;
    const names = changesField(patch);
    return {
      kind: 'update',
      how: isDeep ? 'merge-deep' : 'merge',
      collection,
      edits: [{ id, dataJson, unset, inc }],
      names,
      isChanged: names,
      now: now(),
      by: { access, action: patchAction(access, patch) },
    };
  };

  /** @param growthBytes of the document, at most */
  const updateWithin = (
    target: RecordTarget,
    unversioned: Update,
    {
      at,
      growthBytes,
      versions,
    }: Pick<CheckedData, 'at'> & {
      growthBytes: number;
      versions: AcceptedVersions;
    },
  ): Promise<WrittenRecord> => {
    const { access } = target;
    const { action = 'change' } = unversioned.by ?? {};
    checkChange(access, action);
    const change = { ...unversioned, by: { access, action, versions } };
    const bytes = growthBytes + mostSideBytes(change, growthBytes);
    return quota.change(target.project, bytes, (roomBytes) =>
      update(target, withRoom(change, roomBytes), at),
    );
  };

  return {
    create,
    patch: async (target, patch, versions) =>
      updateWithin(target, patching(target, patch), {
        at: patch.at,
        growthBytes: patch.maxGrowthBytes,
        versions,
      }),
    patchBeyondQuota: (target, patch) => update(target, patching(target, patch), patch.at),
    replace: async (target, data, versions) =>
      updateWithin(target, replacing(target, data), {
        at: data.at,
        growthBytes: data.sizeBytes,
        versions,
      }),
    async remove(target, versions) {
      const { collection, access, id } = target;
      checkChange(access, 'delete');
      checkId(target);
      const by = { access, action: 'delete', versions } as const;
      await sendLocked(target, { kind: 'delete', collection, ids: [id], by });
    },
  };
};
