import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { fullAccess } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import { checkEpoch, StaleSlots } from '../collections/current-slots.ts';
import { claimValues } from '../collections/stored/claims.ts';
import type { ChangedVersion } from '../record/change/change-sql.ts';
import type { SendChange } from '../record/change/send-change.ts';
import { type CheckedData, checkData } from '../record/data.ts';
import { translateWriteError } from '../record/refusals.ts';
import type { WriteChecks } from '../record/schema/write-checks.ts';
import type { Source } from '../source.ts';
import { inCollection, startParameters } from '../sql.ts';
import { idTimeMs, toIso } from '../timestamps.ts';
import type { FormerRecord, Plan } from './plan-records.ts';

export interface WriteBackDeps {
  database: Database;
  send: SendChange;
  checks: Pick<WriteChecks, 'replaced'>;
  /** Epoch milliseconds. */
  now: () => number;
}

export interface WrittenBack {
  created: string[];
  updated: string[];
  deleted: string[];
  /** Ids of records that can not be written as they were, with the code of what refuses them. */
  refused: Map<string, string>;
}

/** Of an attempt that is rolled back: these records can not be written. */
class Refused extends Error {
  readonly ids: ReadonlyMap<string, string>;
  constructor(ids: ReadonlyMap<string, string>) {
    super('Some records can not be written.');
    this.ids = ids;
  }
}

/** Of one that was only to be tried. */
class OnlyTried extends Error {
  readonly same: ReadonlySet<string>;
  constructor(same: ReadonlySet<string>) {
    super('Nothing is to stay.');
    this.same = same;
  }
}

interface Checked extends FormerRecord {
  data: CheckedData;
}

const withoutIds = (plan: Plan, ids: ReadonlyMap<string, string>): Plan => {
  const isLeft = ({ id }: { id: string }) => !ids.has(id);
  return {
    ...plan,
    create: plan.create.filter(isLeft),
    update: plan.update.filter(isLeft),
    delete: plan.delete.filter((id) => !ids.has(id)),
  };
};

/** Writes records as they were, in the surrounding transaction: as changes like any others. */
export const createWriteBack = ({ database, send, checks, now }: WriteBackDeps) => {
  const check = async (
    collection: Collection,
    records: readonly FormerRecord[],
    refused: Map<string, string>,
  ): Promise<Checked[]> => {
    const project = { id: '', number: collection.projectNumber } as Identity['project'];
    const writing = { project, collection, access: fullAccess(collection.access) };
    const checked: Checked[] = [];
    for (const record of records) {
      try {
        const value: unknown = JSON.parse(record.dataJson);
        const data = { ...checkData(value), json: record.dataJson, sizeBytes: record.sizeBytes };
        checked.push({ ...record, data: (await checks.replaced(writing, data)).data });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        refused.set(record.id, error.code);
      }
    }
    return checked;
  };

  /** Those that a schema's defaults make what is there already. */
  const findSame = async (collection: Collection, records: readonly Checked[]) => {
    const filled = records.filter(({ data, dataJson }) => data.json !== dataJson);
    if (filled.length === 0) return new Set<string>();
    const ids = filled.map(({ id }) => id);
    const same = await database.query<{ id: string }>(
      `SELECT id FROM records JOIN unnest($3::uuid[], $4::jsonb[]) filled(row_id, document) ON filled.row_id = id AND filled.document = data
       WHERE ${inCollection}`,
      [...startParameters(collection, ids).values, filled.map(({ data }) => data.json)],
    );
    return new Set(same.map(({ id }) => id));
  };

  const remove = async (collection: Collection, ids: readonly string[], source: Source) => {
    if (ids.length === 0) return;
    if ((await send({ kind: 'delete', collection, ids, source })).length === 0)
      throw new StaleSlots();
  };

  const update = async (collection: Collection, records: readonly Checked[], source: Source) => {
    if (records.length === 0) return;
    const changed = await send<ChangedVersion>({
      kind: 'update',
      how: 'replace',
      collection,
      edits: records.map(({ id, data }) => ({ id, dataJson: data.json, unset: [], inc: {} })),
      names: () => true,
      now: now(),
      maxBytes: collection.limits?.maxBytes,
      claimsLater: true,
      source,
    });
    if (changed.length === records.length) return;
    await checkEpoch(database, collection);
    const done = new Set(changed.map(({ id }) => id));
    const left = records.filter(({ id }) => !done.has(id));
    throw new Refused(new Map(left.map(({ id }) => [id, 'limit_reached'])));
  };

  const create = async (
    collection: Collection,
    records: readonly Checked[],
    { versions }: Plan,
    source: Source,
  ) => {
    if (records.length === 0) return;
    const created = await send({
      kind: 'create',
      collection,
      records: records.map(({ id, ownerId, groupId, data }) => ({
        id,
        ownerId,
        groupId: groupId ?? undefined,
        createdAt: toIso(idTimeMs(id)),
        updatedAt: toIso(Math.max(now(), (versions.get(id) ?? 0) + 1)),
        dataJson: data.json,
      })),
      isGiven: true,
      claimsLater: true,
      source,
    });
    if (created.length === 0) throw new StaleSlots();
  };

  const claim = async (collection: Collection, ids: readonly string[]) => {
    if (collection.unique.length === 0 || ids.length === 0) return;
    const taken = await claimValues(database, collection, collection.unique, ids);
    if (taken.length > 0) throw new Refused(new Map(taken.map(({ id }) => [id, 'not_unique'])));
  };

  const attempt = async (
    collection: Collection,
    plan: Plan,
    { source, isTried }: { source: Source; isTried: boolean },
  ): Promise<ReadonlySet<string>> => {
    const refused = new Map<string, string>();
    const { maxBytes = Number.POSITIVE_INFINITY } = collection.limits ?? {};
    await remove(collection, plan.delete, source);
    const updates = await check(collection, plan.update, refused);
    const creates = await check(collection, plan.create, refused);
    for (const { id, data } of creates)
      if (data.sizeBytes > maxBytes) refused.set(id, 'limit_reached');
    if (refused.size > 0) throw new Refused(refused);
    const same = await findSame(collection, updates);
    const changed = updates.filter(({ id }) => !same.has(id));
    await update(collection, changed, source);
    await create(collection, creates, plan, source);
    const ids = [...changed, ...creates].map(({ id }) => id);
    await claim(collection, ids);
    if (isTried) throw new OnlyTried(same);
    return same;
  };

  /** What comes back under an id that another record had is an update to whoever asked. */
  const outcome = (plan: Plan, same: ReadonlySet<string> = new Set()) => {
    const replaced = new Set(
      plan.create.map(({ id }) => id).filter((id) => plan.delete.includes(id)),
    );
    return {
      created: plan.create.map(({ id }) => id).filter((id) => !replaced.has(id)),
      updated: [...plan.update.map(({ id }) => id), ...replaced].filter((id) => !same.has(id)),
      deleted: plan.delete.filter((id) => !replaced.has(id)),
    };
  };

  const allIds = (plan: Plan) => [
    ...new Set([...plan.create, ...plan.update].map(({ id }) => id).concat(plan.delete)),
  ];

  /** @param isTried whether nothing stays */
  return async (
    collection: Collection,
    plan: Plan,
    options: { source: Source; isTried: boolean },
  ): Promise<WrittenBack> => {
    const refused = new Map<string, string>();
    for (let left = plan; ; left = withoutIds(left, refused)) {
      if (allIds(left).length === 0) return { ...outcome(left), refused };
      try {
        const same = await database.transaction(() => attempt(collection, left, options));
        return { ...outcome(left, same), refused };
      } catch (error) {
        if (error instanceof OnlyTried) return { ...outcome(left, error.same), refused };
        const known = translateWriteError(error, collection.unique);
        if (error instanceof Refused) for (const [id, why] of error.ids) refused.set(id, why);
        // It names no record: all of them are tried one by one the next time.
        else if (known instanceof ApiError)
          for (const id of allIds(left)) refused.set(id, known.code);
        else throw error;
      }
    }
  };
};
