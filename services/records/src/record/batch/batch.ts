import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { V7Generator } from 'uuidv7';
import type { Access } from '../../collections/access.ts';
import type { Collection, Collections } from '../../collections/collections.ts';
import { checkEpoch, onCurrentSlots, StaleSlots } from '../../collections/current-slots.ts';
import { claimValues, notUnique, touchedFields } from '../../collections/stored/claims.ts';
import { idTimeMs, toIso } from '../../timestamps.ts';
import type { Creation } from '../change/change.ts';
import type { ChangedVersion } from '../change/change-sql.ts';
import type { SendChange } from '../change/send-change.ts';
import type { ClaimTurns } from '../claims/claim-turns.ts';
import type { CheckedData } from '../data.ts';
import { changesField } from '../patch.ts';
import type { Quota } from '../quota/quota.ts';
import { explainRefusal } from '../refusals.ts';
import { checkEdits, checkLocked, checkRules } from './checks.ts';
import { lockRecords } from './lock-records.ts';
import {
  type BatchOperations,
  type BatchTarget,
  claimedBy,
  inOperation,
  mostGrowth,
  patching,
} from './operations.ts';

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
  /** Epoch milliseconds. */
  now: () => number;
}

export const createBatches = ({
  database,
  send,
  quota,
  refresh,
  claimTurns,
  now,
}: BatchDeps): Batches => {
  const ids = new V7Generator();

  const create = async (
    { collection, access }: BatchTarget,
    documents: readonly CheckedData[],
  ): Promise<Written[]> => {
    if (documents.length === 0) return [];
    const at = now();
    const records = documents.map(({ json: dataJson, groupId }) => {
      const id = ids.generateOrResetWithTs(at).toString();
      return { id, ownerId: access.userId, createdAt: toIso(idTimeMs(id)), dataJson, groupId };
    });
    const change: Creation = { kind: 'create', collection, records, claimsLater: true };
    if ((await send(change)).length === 0) throw new StaleSlots();
    return records.map(({ id, createdAt }) => ({ id, updatedAt: createdAt }));
  };

  const explainUnchanged = async (
    target: BatchTarget,
    { id, patch: { inc } }: BatchOperations['update'][number],
  ): Promise<unknown> => {
    const refusal = explainRefusal(database, { ...target, id }, { action: 'change', inc });
    const unknown = () => new Error('A locked record was not changed.');
    return refusal.then(unknown, (error: unknown) => error);
  };

  const update = async (
    target: BatchTarget,
    updates: BatchOperations['update'],
    roomBytes: number | undefined,
  ): Promise<Written[]> => {
    if (updates.length === 0) return [];
    const { project, collection } = target;
    const change = patching(collection, updates, now());
    await checkEdits(database, target, change, updates);
    const changed = await send<ChangedVersion>(change);
    if (changed.length < updates.length) await checkEpoch(database, collection);
    if (roomBytes !== undefined && changed[0] && changed[0].growth > roomBytes)
      return quota.refuse(project);
    const versions = new Map(changed.map(({ id, version }) => [id, version]));
    const written: Written[] = [];
    for (const [index, one] of updates.entries()) {
      const version = versions.get(one.id);
      if (version === undefined) {
        const why = await explainUnchanged(target, one);
        throw inOperation(`update[${index}]`, why);
      }
      written.push({ id: one.id, updatedAt: toIso(version) });
    }
    return written;
  };

  const remove = async ({ collection }: BatchTarget, targets: readonly string[]) => {
    if (targets.length === 0) return [];
    const deleted = await send({ kind: 'delete', collection, ids: targets });
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
    if (taken) throw inOperation(operations.get(taken.id) ?? '', notUnique(taken.field));
  };

  const writeAll = async (
    target: BatchTarget,
    operations: BatchOperations,
    roomBytes?: number,
  ): Promise<BatchResult> => {
    const { collection, access } = target;
    const targets = [...operations.update.map(({ id }) => id), ...operations.delete];
    if (targets.length > 0)
      checkLocked(await lockRecords(database, collection, access, targets), target, operations);
    const created = await create(target, operations.create);
    const updated = await update(target, operations.update, roomBytes);
    const deleted = await remove(target, operations.delete);
    await claim(collection, operations, created);
    return { create: created, update: updated, delete: deleted };
  };

  return {
    async write(project, collection, access, operations) {
      checkRules({ project, collection, access }, operations);
      const isOneStatement = operations.update.length === 0 && operations.delete.length === 0;
      return onCurrentSlots(refresh, { project, collection, access }, (target) => {
        const { collection } = target;
        const growth = mostGrowth(collection, operations);
        const claims = claimedBy(collection, access, operations);
        const all = (roomBytes?: number) => writeAll(target, operations, roomBytes);
        const write = (roomBytes?: number) =>
          claimTurns.wait({ collection, claims }, () =>
            isOneStatement && collection.unique.length === 0
              ? all(roomBytes)
              : database.transaction(() => all(roomBytes)),
          );
        if (growth.records > 0) return quota.add(project, growth, () => write());
        return growth.bytes > 0 ? quota.change(project, growth.bytes, write) : write();
      });
    },
  };
};
