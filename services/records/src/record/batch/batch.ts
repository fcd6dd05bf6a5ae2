import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { V7Generator } from 'uuidv7';
import type { Access } from '../../collections/access.ts';
import type { Collection, Collections } from '../../collections/collections.ts';
import { checkEpoch, onCurrentSlots, StaleSlots } from '../../collections/current-slots.ts';
import { claimValues, notUnique, touchedFields } from '../../collections/stored/claims.ts';
import { countsFor } from '../../collections/stored/record-counts.ts';
import { idTimeMs, toIso } from '../../timestamps.ts';
import type { Creation } from '../change/change.ts';
import type { ChangedVersion } from '../change/change-sql.ts';
import type { SendChange } from '../change/send-change.ts';
import type { ClaimTurns } from '../claims/claim-turns.ts';
import type { CheckedData } from '../data.ts';
import { checkCounts, withinLimits } from '../limited-creates.ts';
import { changesField } from '../patch.ts';
import type { Quota } from '../quota/quota.ts';
import type { WriteChecks } from '../schema/write-checks.ts';
import {
  checkCreated,
  checkEdits,
  checkLocked,
  checkResults,
  checkRules,
  explainUnchanged,
} from './checks.ts';
import { lockRecords } from './lock-records.ts';
import {
  type BatchOperations,
  type BatchResult,
  type BatchTarget,
  type CheckedOperations,
  claimedBy,
  inOperation,
  mostGrowth,
  patching,
  type Written,
} from './operations.ts';

export interface Batches {
  /**
   * All operations or none, with a statement for each kind, whatever their number.
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
  send: SendChange;
  quota: Quota;
  refresh: Collections['refresh'];
  claimTurns: ClaimTurns;
  checks: WriteChecks;
  now: () => number;
}

export const createBatches = ({
  database,
  send,
  quota,
  refresh,
  claimTurns,
  checks,
  now,
}: BatchDeps): Batches => {
  const ids = new V7Generator();

  const countsIn = ({ collection, access }: BatchTarget) =>
    countsFor(collection.limits, access, now());

  const create = async (
    target: BatchTarget,
    documents: readonly CheckedData[],
  ): Promise<Written[]> => {
    if (documents.length === 0) return [];
    const { collection, access } = target;
    const at = now();
    const records = documents.map(({ json: dataJson, groupId, given }) => {
      const id = given?.id ?? ids.generateOrResetWithTs(at).toString();
      const createdAt = toIso(idTimeMs(id));
      // A record of before may have had the id, and its versions.
      const isLater = given && { updatedAt: toIso(Math.max(idTimeMs(id), at)) };
      const ownerId = given ? given.ownerId : access.userId;
      return { id, ownerId, createdAt, ...isLater, dataJson, groupId };
    });
    const change: Creation = {
      kind: 'create',
      collection,
      records,
      isGiven: documents.some(({ given }) => given),
      counts: countsIn(target),
      claimsLater: true,
      source: access.source,
    };
    if ((await send(change)).length === 0) {
      await checkCounts(database, target, change);
      throw new StaleSlots();
    }
    return records.map(({ id, createdAt, updatedAt = createdAt }) => ({ id, updatedAt }));
  };

  const update = async (
    target: BatchTarget,
    { update: updates, resultChecks }: CheckedOperations,
    roomBytes: number | undefined,
  ): Promise<Written[]> => {
    if (updates.length === 0) return [];
    const { project, collection } = target;
    const change = { ...patching(collection, updates, now()), source: target.access.source };
    await checkEdits(database, target, change, updates);
    await checkResults(database, change, resultChecks);
    const changed = await send<ChangedVersion>(change);
    if (changed.length < updates.length) await checkEpoch(database, collection);
    if (roomBytes !== undefined && changed[0] && changed[0].growth > roomBytes)
      return quota.refuse(project);
    const versions = new Map(changed.map(({ id, version }) => [id, version]));
    const written: Written[] = [];
    for (const [index, one] of updates.entries()) {
      const version = versions.get(one.id);
      if (version === undefined) {
        const change = patching(collection, [one], now());
        const why = await explainUnchanged(database, { ...target, id: one.id }, change);
        throw inOperation(`update[${index}]`, why);
      }
      written.push({ id: one.id, updatedAt: toIso(version) });
    }
    return written;
  };

  const remove = async ({ collection, access }: BatchTarget, targets: readonly string[]) => {
    if (targets.length === 0) return [];
    const deleted = await send({
      kind: 'delete',
      collection,
      ids: targets,
      source: access.source,
    });
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
    const touches = ({ patch }: BatchOperations['update'][number]) =>
      touchedFields({ kind: 'update', collection, isChanged: changesField(patch) }).length > 0;
    if (unique.length === 0 || (created.length === 0 && !update.some(touches))) return;
    const operations = new Map([
      ...created.map(({ id }, i) => [id, `create[${i}]`] as const),
      ...update.map(({ id }, i) => [id, `update[${i}]`] as const),
    ]);
    const [taken] = await claimValues(database, collection, unique, [...operations.keys()]);
    if (taken) throw inOperation(operations.get(taken.id) ?? '', notUnique(taken.fields));
  };

  const writeAll = async (
    target: BatchTarget,
    operations: CheckedOperations,
    roomBytes?: number,
  ): Promise<BatchResult> => {
    const { collection, access } = target;
    const targets = [...operations.update.map(({ id }) => id), ...operations.delete];
    if (targets.length > 0)
      checkLocked(await lockRecords(database, collection, access, targets), target, operations);
    // First, so that what it gives back is there.
    const deleted = await remove(target, operations.delete);
    const created = await create(target, operations.create);
    const updated = await update(target, operations, roomBytes);
    await claim(collection, operations, created);
    return { create: created, update: updated, delete: deleted };
  };

  return {
    async write(project, collection, access, operations) {
      checkRules({ project, collection, access }, operations);
      const isOneStatement = operations.update.length === 0 && operations.delete.length === 0;
      return onCurrentSlots(refresh, { project, collection, access }, async (target) => {
        const { collection } = target;
        const checked = { ...operations, ...(await checks.batch(target, operations)) };
        checkCreated(target, operations.create, checked.create);
        const growth = mostGrowth(collection, checked);
        const claims = claimedBy(collection, access, checked);
        const all = (roomBytes?: number) => writeAll(target, checked, roomBytes);
        const isAlone = isOneStatement && collection.unique.length === 0;
        const creation = { counts: countsIn(target), records: operations.create };
        const write = (roomBytes?: number) =>
          claimTurns.wait({ collection, claims }, () =>
            withinLimits(database, target, creation, () =>
              isAlone ? all(roomBytes) : database.transaction(() => all(roomBytes)),
            ),
          );
        if (growth.records > 0) return quota.add(project, growth, () => write());
        return growth.bytes > 0 ? quota.change(project, growth.bytes, write) : write();
      });
    },
  };
};
