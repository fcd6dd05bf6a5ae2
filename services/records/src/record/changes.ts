import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { checkChange } from '../collections/access.ts';
import { checkEpoch } from '../collections/current-slots.ts';
import { lockRecord, touchedFields } from '../collections/stored/claims.ts';
import type { Parameters } from '../sql.ts';
import type { BatchChange } from './batched-changes.ts';
import type { Deletion, ResultCheck, Update } from './change/change.ts';
import type { ChangedRow } from './change/change-sql.ts';
import { editAdmittedSql, editedFields } from './change/edits-sql.ts';
import { readResults } from './change/read-results.ts';
import type { SendChange } from './change/send-change.ts';
import { mostSideBytes, needsLock } from './change/side-effects.ts';
import { type ClaimTurns, toClaims } from './claims/claim-turns.ts';
import type { CheckedData } from './data.ts';
import { changesField, type Patch, patchAction } from './patch.ts';
import type { Quota } from './quota/quota.ts';
import { checkChangedSize } from './record-size.ts';
import { type AcceptedVersions, checkId, explainRefusal, type RecordTarget } from './refusals.ts';
import type { WriteChecks } from './schema/write-checks.ts';
import { changedRecord, type WrittenRecord } from './written-record.ts';

/** Changes of single records that are there. They throw as those of `Records` do. */
export interface Changes {
  patch(target: RecordTarget, patch: Patch, versions: AcceptedVersions): Promise<WrittenRecord>;
  /**
   * For what the platform itself writes.
   * @param undeclared fields that need not stand in the collection's schema
   */
  patchBeyondQuota(
    target: RecordTarget,
    patch: Patch,
    undeclared?: readonly string[],
  ): Promise<WrittenRecord>;
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
  checks: WriteChecks;
  send: SendChange;
  batched: BatchChange;
  now: () => number;
}

interface Decided {
  /** Epoch milliseconds. */
  now: number;
  resultCheck: ResultCheck | undefined;
}

/** The update that puts a document in place of a record's own. */
const replaceUpdate = (
  { collection, access, id }: RecordTarget,
  data: CheckedData,
  { now, resultCheck }: Decided,
): Update => ({
  kind: 'update',
  how: 'replace',
  collection,
  edits: [{ id, dataJson: data.json, unset: [], inc: {} }],
  names: data.has,
  now,
  by: { access, action: 'change' },
  source: access.source,
  resultCheck,
});

/** The update that a patch of one record asks for. */
const patchUpdate = (
  { collection, access, id }: RecordTarget,
  patch: Patch,
  { now, resultCheck }: Decided,
): Update => {
  const { dataJson, unset, inc, isDeep } = patch;
  const names = changesField(patch);
  return {
    kind: 'update',
    how: isDeep ? 'merge-deep' : 'merge',
    collection,
    edits: [{ id, dataJson, unset, inc }],
    names,
    isChanged: names,
    now,
    by: { access, action: patchAction(access, patch) },
    source: access.source,
    resultCheck,
  };
};

const withRoom = (change: Update, roomBytes: number | undefined): Update =>
  change.by && roomBytes !== undefined ? { ...change, by: { ...change.by, roomBytes } } : change;

/** A change is tried again where the reason for its refusal has gone by the time it is looked for. */
const maxTries = 3;

export const createChanges = ({
  database,
  send,
  batched,
  quota,
  claimTurns,
  checks,
  now,
}: ChangesDeps): Changes => {
  const explain = (target: RecordTarget, change: Update | Deletion): Promise<void> => {
    const { action = 'change', versions } = change.by ?? {};
    const reasons = { action, versions };
    if (change.kind === 'delete') return explainRefusal(database, target, reasons);
    const inc = change.edits[0]?.inc ?? {};
    const fields = editedFields(change);
    const admitsAfter = (parameters: Parameters) => editAdmittedSql(change, parameters);
    return explainRefusal(database, target, { ...reasons, inc, fields, admitsAfter });
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
      if (change.kind === 'update') await checkChangedSize(database, target, change);
      if (change.by?.roomBytes !== undefined) return quota.refuse(target.project);
    }
    throw new ApiError('conflict', 'This record changes too often just now. Try again.');
  };

  /** Where the change would not be made, its refusal says why. @throws ApiError schema_mismatch */
  const checkResult = async (change: Update | Deletion): Promise<void> => {
    if (change.kind !== 'update' || !change.resultCheck) return;
    const { fields, check } = change.resultCheck;
    for (const result of (await readResults(database, change, fields)).values()) check(result);
  };

  /** With the record locked before, where what follows from the change asks for it. */
  const sendLocked = <Row>(target: RecordTarget, change: Update | Deletion): Promise<Row> =>
    needsLock(change)
      ? database.transaction(async () => {
          await lockRecord(database, target.collection, target.id);
          await checkResult(change);
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
      claims: toClaims(touchedFields(change), { at }),
      refuse: () => explain(target, change),
    };
    const alone = () => claimTurns.run(claimed, () => sendLocked<ChangedRow>(target, change));
    return changedRecord(await batched({ change, alone }));
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
    const { access, collection } = target;
    const { action = 'change' } = unversioned.by ?? {};
    checkChange(access, action);
    const { maxBytes } = collection.limits ?? {};
    const change = { ...unversioned, maxBytes, by: { access, action, versions } };
    const bytes = growthBytes + mostSideBytes(change, growthBytes);
    return quota.change(target.project, bytes, (roomBytes) =>
      update(target, withRoom(change, roomBytes), at),
    );
  };

  return {
    async patch(target, patch, versions) {
      const resultCheck = await checks.patched(target, patch);
      return updateWithin(target, patchUpdate(target, patch, { now: now(), resultCheck }), {
        at: patch.at,
        growthBytes: patch.maxGrowthBytes,
        versions,
      });
    },
    async patchBeyondQuota(target, patch, undeclared) {
      const resultCheck = await checks.patched(target, patch, undeclared);
      return update(target, patchUpdate(target, patch, { now: now(), resultCheck }), patch.at);
    },
    async replace(target, sent, versions) {
      const { data, resultCheck } = await checks.replaced(target, sent);
      return updateWithin(target, replaceUpdate(target, data, { now: now(), resultCheck }), {
        at: data.at,
        growthBytes: data.sizeBytes,
        versions,
      });
    },
    async remove(target, versions) {
      const { collection, access, id } = target;
      checkChange(access, 'delete');
      checkId(target);
      const by = { access, action: 'delete', versions } as const;
      const { source } = access;
      await sendLocked(target, { kind: 'delete', collection, ids: [id], by, source });
    },
  };
};
