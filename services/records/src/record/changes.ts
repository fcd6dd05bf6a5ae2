import { ApiError, isUuid } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { checkChange } from '../collections/access.ts';
import { checkEpoch } from '../collections/current-slots.ts';
import { type ChangedFields, freeFieldsSql, keptFieldsSql } from '../collections/field-rules.ts';
import {
  claimChangedSql,
  freeDeletedSql,
  lockRecord,
  touchedFields,
  type UniqueField,
} from '../collections/stored/claims.ts';
import { forgetWordsSql, keepWordsSql } from '../collections/stored/search-words.ts';
import { joinSides } from '../collections/stored/side-sql.ts';
import { isCurrentSql, slotAssignments } from '../collections/stored/slots.ts';
import { and, type Parameters } from '../sql.ts';
import { type ClaimTurns, claimsOf } from './claims/claim-turns.ts';
import type { CheckedData } from './data.ts';
import { gatherChanges } from './gathered/gathered-changes.ts';
import {
  changedFields,
  changesField,
  type Patch,
  patchAction,
  patchSql,
  uncountableSql,
} from './patch.ts';
import type { Quota } from './quota/quota.ts';
import { mostSideGrowth } from './quota/side-bytes.ts';
import {
  changeableRow,
  countedSql,
  targetParameters,
  type UpdatedRow,
  updatedRecord,
  updatedSql,
  updateSql,
  type WriteRecords,
  type WrittenRecord,
  withinRoom,
} from './record-sql.ts';
import {
  type AcceptedVersions,
  explainRefusal,
  type Reasons,
  type RecordTarget,
} from './refusals.ts';
import { unsharedSql } from './share-rows.ts';

/** Changes of single records. They throw as those of `Records` do. */
export interface Changes {
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
  write: WriteRecords;
  /** Epoch milliseconds. */
  now: () => number;
}

/** What a change asks beside the caller's rights. */
interface Limits {
  versions?: AcceptedVersions;
  /** How much larger the record may become, where that is asked. */
  roomBytes?: number | undefined;
}

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

export const createChanges = ({
  database,
  quota,
  claimTurns,
  write,
  now,
}: ChangesDeps): Changes => {
  const gathered = gatherChanges(write, now);

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

  /** Runs a change in the turn of the values that it claims. */
  const inTurn = <T>(
    target: RecordTarget,
    at: CheckedData['at'],
    fields: readonly UniqueField[],
    reasons: Reasons,
    work: () => Promise<T>,
  ): Promise<T> => {
    const { collection, id } = target;
    const claims = isUuid(id) ? claimsOf(fields, at) : [];
    const refuse = () => explainRefusal(database, target, reasons);
    return claimTurns.run({ collection, id, claims, refuse }, work);
  };

  const change = async <Row>(
    target: RecordTarget,
    text: string,
    parameters: Parameters,
    { roomBytes, ...reasons }: Reasons & Limits,
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

  /** Whether it may be made together with changes of other records. */
  const mayJoin = ({ id }: RecordTarget, { versions, roomBytes }: Limits): boolean =>
    versions === undefined && roomBytes === undefined && isUuid(id) && !database.isInTransaction();

  const replaceAlone = (
    target: RecordTarget,
    { json, has, at }: CheckedData,
    { versions, roomBytes }: Limits,
  ): Promise<UpdatedRow> => {
    const { access, collection } = target;
    const parameters = targetParameters(target);
    const given = parameters.add(json, 'jsonb');
    const kept = keptFieldsSql(access, parameters);
    const data = kept === undefined ? given : `(${given} || ${kept})`;
    const keys = slotAssignments(collection.slots, data, parameters);
    const touched = touchedFields(collection.unique);
    const sides = joinSides(
      claimChangedSql(touched, 'changed', parameters, { claimsNew: true }),
      keepWordsSql(collection, 'changed', parameters),
    );
    const statement = updateSql(data, keys, now(), parameters);
    const fields = replacedFields(json, has);
    const matches = and([
      changeableRow(target, 'change', versions, parameters),
      freeFieldsSql(access, fields, parameters),
      isCurrentSql(collection, parameters),
    ]);
    const where = withinRoom(collection, matches, data, roomBytes, parameters);
    const text = updatedSql(statement, where, target, sides, parameters);
    const reasons = { action: 'change', versions, fields, roomBytes } as const;
    return inTurn(target, at, touched, reasons, () =>
      afterLock(target, touched.length > 0, () => change(target, text, parameters, reasons)),
    );
  };

  /** What the caller may not see or change stays. */
  const replace: Changes['replace'] = async (target, data, versions) => {
    checkChange(target.access);
    const { json, sizeBytes } = data;
    const growthBytes = sizeBytes + mostSideGrowth(target.collection, sizeBytes);
    return quota.change(target.project, growthBytes, async (roomBytes) => {
      const limits = { versions, roomBytes };
      const alone = () => replaceAlone(target, data, limits);
      const isChanged = () => true;
      const joined = { target, kind: 'replace', dataJson: json, isChanged, alone } as const;
      return updatedRecord(await (mayJoin(target, limits) ? gathered(joined) : alone()));
    });
  };

  const patchAlone = (
    target: RecordTarget,
    changes: Patch,
    { versions, roomBytes }: Limits,
  ): Promise<UpdatedRow> => {
    const { access, collection } = target;
    const parameters = targetParameters(target);
    const { data, condition } = patchSql(changes, parameters);
    const isChanged = changesField(changes);
    const keys = slotAssignments(collection.slots, data, parameters, isChanged);
    const touched = touchedFields(collection.unique, isChanged);
    const sides = joinSides(
      claimChangedSql(touched, 'changed', parameters, { claimsNew: true }),
      keepWordsSql(collection, 'changed', parameters, isChanged),
    );
    const statement = updateSql(data, keys, now(), parameters);
    const fields = changedFields(changes);
    const action = patchAction(access, changes);
    const added = () => parameters.add(JSON.stringify(changes.inc), 'jsonb');
    const matches = and([
      changeableRow(target, action, versions, parameters),
      action === 'count' ? `${uncountableSql(access, added(), parameters)} IS NULL` : undefined,
      freeFieldsSql(access, fields, parameters),
      condition,
      isCurrentSql(collection, parameters),
    ]);
    const where = withinRoom(collection, matches, data, roomBytes, parameters, isChanged);
    const text = updatedSql(statement, where, target, sides, parameters);
    const reasons = { action, versions, inc: changes.inc, fields, roomBytes };
    return inTurn(target, changes.at, touched, reasons, () =>
      afterLock(target, touched.length > 0, () => change(target, text, parameters, reasons)),
    );
  };

  const applyPatch = async (
    target: RecordTarget,
    changes: Patch,
    limits: Limits,
  ): Promise<WrittenRecord> => {
    const { dataJson, inc, isDeep, unset } = changes;
    const alone = () => patchAlone(target, changes, limits);
    const isUsual =
      !isDeep && unset.length === 0 && patchAction(target.access, changes) === 'change';
    const kind = Object.keys(inc).length === 0 ? 'set' : 'add';
    const joined = {
      target,
      kind,
      dataJson,
      inc,
      isChanged: changesField(changes),
      alone,
    } as const;
    return updatedRecord(await (isUsual && mayJoin(target, limits) ? gathered(joined) : alone()));
  };

  const patch: Changes['patch'] = async (target, changes, versions) => {
    checkChange(target.access, patchAction(target.access, changes));
    const { maxGrowthBytes } = changes;
    const sideBytes = mostSideGrowth(target.collection, maxGrowthBytes, changesField(changes));
    return quota.change(target.project, maxGrowthBytes + sideBytes, (roomBytes) =>
      applyPatch(target, changes, { versions, roomBytes }),
    );
  };

  const remove: Changes['remove'] = async (target, versions) => {
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
      `DELETE FROM records WHERE ${where} RETURNING id, -size_bytes AS growth${sides.returned}`,
      -1,
      'id',
      `${sides.tables}${unsharedSql('record_id = $3', 'changed')}`,
    );
    const reasons = { action: 'delete', versions } as const;
    await afterLock(target, unique.length > 0 || search !== undefined, () =>
      change(target, text, parameters, reasons),
    );
  };

  return {
    patch,
    patchBeyondQuota: (target, changes) => applyPatch(target, changes, {}),
    replace,
    remove,
  };
};
