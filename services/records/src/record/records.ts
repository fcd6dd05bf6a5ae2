import { ApiError, type ErrorCode, isUuid } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import { V7Generator } from 'uuidv7';
import {
  type Access,
  checkChange,
  checkCreate,
  checkRead,
  recordNotFound,
  rowPolicySql,
  writePolicySql,
} from '../collections/access.ts';
import type { Collection, Collections } from '../collections/collections.ts';
import {
  type ChangedFields,
  checkNewFields,
  freeFieldsSql,
  keptFieldsSql,
  visibleDataSql,
  visibleRecordsSql,
} from '../collections/field-rules.ts';
import { idHint } from '../list/hints.ts';
import type { Reader } from '../list/reader.ts';
import { checkEpoch, onCurrentSlots } from '../slots/current-slots.ts';
import { isCurrentSql, slotAssignments, slotValues } from '../slots/slots.ts';
import {
  and,
  inCollection,
  maxPipelinedBytes,
  nextVersionSql,
  type Parameters,
  recordJsonSql,
  startParameters,
  versionSql,
} from '../sql.ts';
import { idTimeMs } from '../timestamps.ts';
import type { CheckedData } from './data.ts';
import { changedFields, changesField, type Patch, patchSql } from './patch.ts';
import type { Quota } from './quota.ts';
import {
  type AcceptedVersions,
  explainRefusal,
  type Reasons,
  type RecordTarget,
  translateWriteError,
} from './refusals.ts';

/** One record as the API writes it. */
export interface RecordJson {
  json: string;
  /** Grows with every change: epoch milliseconds of `updatedAt`. */
  version: number;
}

/**
 * Single records. All methods throw ApiError: not_found for what the caller may not see,
 * unauthenticated or forbidden for what they may not do, precondition_failed for another version,
 * invalid_data where the result would exceed the limits, quota_reached.
 */
export interface Records {
  create(
    project: Identity['project'],
    collection: Collection,
    access: Access,
    data: CheckedData,
  ): Promise<RecordJson>;
  /** @throws FairShareFull too */
  get(target: RecordTarget, reader: Reader): Promise<RecordJson & { release?: () => void }>;
  patch(target: RecordTarget, patch: Patch, versions: AcceptedVersions): Promise<RecordJson>;
  /** For what the platform itself writes. */
  patchBeyondQuota(target: RecordTarget, patch: Patch): Promise<RecordJson>;
  replace(target: RecordTarget, data: CheckedData, versions: AcceptedVersions): Promise<RecordJson>;
  /** Creates the record where there is none. @throws ApiError invalid_path where its id is no new UUIDv7 */
  upsert(target: RecordTarget, data: CheckedData): Promise<RecordJson>;
  remove(target: RecordTarget, versions: AcceptedVersions): Promise<void>;
}

export interface RecordsDeps {
  database: Database;
  quota: Quota;
  refresh: Collections['refresh'];
  scans: FairShares;
  /** A slot for each large answer that is read or not yet taken. */
  answers: FairShares;
  /** Epoch milliseconds. */
  now: () => number;
}

interface ChangeConditions extends Reasons {
  /** How much larger the record may become, where that is asked. */
  roomBytes?: number | undefined;
}

/** Writes nothing where the collection's slots have changed. */
const createSql = (
  { slots, epoch }: Collection,
  parameters: Parameters,
  groupId: string | undefined,
  onConflict: string,
): string => {
  const keys = slotValues(slots, '$6::jsonb', '$4::uuid', parameters);
  const group = groupId === undefined ? '' : `, ${parameters.add(groupId, 'uuid')}`;
  return `WITH created AS (
    INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data${keys.columns}${group && ', group_id'})
    SELECT $1, $2, $3, $4, $5::timestamptz, $5, $6::jsonb${keys.values}${group}
    WHERE ${isCurrentSql(epoch, parameters)} ${onConflict} RETURNING size_bytes)
  INSERT INTO count_delta (project_id, coll_id, d, bytes)
  SELECT $1, $2, 1, size_bytes FROM created RETURNING bytes`;
};

/** A record's id is the time of its creation: a client that makes one may be offline for a day. */
const oldestNewIdMs = 24 * 60 * 60_000;
const clockDifferenceMs = 60_000;
const newIdRule =
  'A new record takes a UUIDv7 as its id that is at most 24 hours old and at most a minute ahead.';
const isNewId = (id: string, now: number) =>
  isUuid(id) &&
  id[14] === '7' &&
  idTimeMs(id) >= now - oldestNewIdMs &&
  idTimeMs(id) <= now + clockDifferenceMs;

const isRefusedAs = (code: ErrorCode, error: unknown) =>
  error instanceof ApiError && error.code === code;
const isRefused = (error: unknown) =>
  (['quota_reached', 'forbidden', 'unauthenticated'] as const).some((code) =>
    isRefusedAs(code, error),
  );

/** A connection keeps each of them, with its plan. */
const maxNamedStatements = 300;
const unnamed = '';
/** A change is tried again where the reason for its refusal has gone by the time it is looked for. */
const maxTries = 3;

const toIso = (ms: number) => new Date(ms).toISOString();
const matchesId = `${inCollection} AND id = $3`;
const smallRecordColumns = `CASE WHEN size_bytes <= ${maxPipelinedBytes} THEN ${recordJsonSql()} END, ${versionSql}`;
const recordColumns = (data = 'data') =>
  `${recordJsonSql(undefined, data)} AS json, ${versionSql} AS version`;
const targetParameters = ({ collection, id }: RecordTarget): Parameters => {
  if (!isUuid(id)) throw recordNotFound(idHint(collection.name, id));
  return startParameters(collection, id);
};

/** Matches the row if this caller may change it and it has one of the versions. */
const changeableRow = (
  { access }: RecordTarget,
  action: 'change' | 'delete',
  versions: AcceptedVersions,
  parameters: Parameters,
) =>
  and([
    matchesId,
    writePolicySql(access, action, parameters),
    versions && `updated_at = ANY (${parameters.add(versions.map(toIso), 'timestamptz[]')})`,
  ]);

/** What `where` matches, unless the record would grow by more than is left of the quota. */
const withinRoom = (
  where: string,
  data: string,
  roomBytes: number | undefined,
  parameters: Parameters,
): string =>
  roomBytes === undefined
    ? where
    : `${where} AND CASE WHEN ${where}
         THEN octet_length((${data})::text) - size_bytes <= ${parameters.add(roomBytes, 'int8')} ELSE false END`;

/**
 * A change together with what it counts, so that both are committed or neither is.
 * @param change returns `growth`, the bytes that it adds
 * @param answer `json` and `version`, from what the change returns
 */
const countedSql = (change: string, records: 0 | -1, answer: string): string =>
  `WITH changed AS (${change}), counted AS (
     INSERT INTO count_delta (project_id, coll_id, d, bytes)
     SELECT $1, $2, ${records}, growth FROM changed WHERE growth <> 0)
   SELECT ${answer} FROM changed records`;

/** A document instead of another names all of its fields. */
const replacedFields = (json: string, has: CheckedData['has']): ChangedFields => ({
  names: has,
  sql(parameters) {
    const given = parameters.add(json, 'jsonb');
    return { given, result: given, unset: `'{}'::text[]`, inc: `'{}'::jsonb` };
  },
});

/** The document follows the record's own fields, as `recordJsonSql` has it. */
const joinRecordJson = (ownFields: object, dataJson: string): string =>
  dataJson === '{}'
    ? JSON.stringify(ownFields)
    : `${JSON.stringify(ownFields).slice(0, -1)},${dataJson.slice(1)}`;

export const createRecords = ({
  database,
  quota,
  refresh,
  scans,
  answers,
  now,
}: RecordsDeps): Records => {
  const ids = new V7Generator();
  /** The texts differ by the caller's rights and the parts of a patch: a few dozen in all. */
  const names = new Map<string, string>();
  const statementName = (text: string): string => {
    const name = names.get(text) ?? `records_${names.size}`;
    names.set(text, name);
    return name;
  };

  /** With slots, and with rules for fields, there are more: those beyond a number are planned each time. */
  const nameWithinBound = (text: string): string =>
    names.has(text) || names.size < maxNamedStatements ? statementName(text) : unnamed;

  const write = <Row>(text: string, { values }: Parameters): Promise<Row[]> =>
    database
      .named<Row>(nameWithinBound(text), text, values)
      .catch((error: unknown) => Promise.reject(translateWriteError(error)));

  /** Keyed by the short condition, because hashing the whole text each time was 2 % of a get. */
  const readStatements = new Map<
    string | undefined,
    { name: string; text: string; wholeText: string }
  >();
  const readTexts = (policy: string | undefined, source: string) => {
    const found = `FROM ${source} WHERE ${and([matchesId, policy])}`;
    return {
      text: `SELECT ${smallRecordColumns} ${found}`,
      wholeText: `SELECT ${recordColumns()} ${found}`,
    };
  };
  const readStatement = (policy: string | undefined, source: string) => {
    if (source !== 'records') {
      const texts = readTexts(policy, source);
      return { name: nameWithinBound(texts.text), ...texts };
    }
    const known = readStatements.get(policy);
    if (known) return known;
    const texts = readTexts(policy, source);
    const statement = { name: statementName(texts.text), ...texts };
    readStatements.set(policy, statement);
    return statement;
  };

  const change = async (
    target: RecordTarget,
    text: string,
    parameters: Parameters,
    { roomBytes, ...reasons }: ChangeConditions,
  ): Promise<RecordJson> => {
    for (let tries = 0; tries < maxTries; tries++) {
      const [changed] = await write<RecordJson>(text, parameters);
      if (changed) return changed;
      await checkEpoch(database, target.collection);
      await explainRefusal(database, target, reasons);
      if (roomBytes !== undefined) return quota.refuse(target.project);
    }
    throw new ApiError('conflict', 'This record changes too often just now. Try again.');
  };

  const updateSql = (data: string, keys: string, parameters: Parameters): string => {
    const time = parameters.add(toIso(now()), 'timestamptz');
    return `UPDATE records SET data = ${data}${keys}, updated_at = ${nextVersionSql(time)}`;
  };

  const updatedSql = (
    update: string,
    where: string,
    access: Access,
    parameters: Parameters,
  ): string =>
    countedSql(
      `${update} WHERE ${where}
       RETURNING id, owner_id, group_id, created_at, updated_at, data, new.size_bytes - old.size_bytes AS growth`,
      0,
      recordColumns(visibleDataSql(access, parameters)),
    );

  /** Undefined where the id is taken. */
  const insert = async (
    { project, collection, access, id }: RecordTarget,
    { json, sizeBytes, groupId }: CheckedData,
    onConflict = '',
  ): Promise<RecordJson | undefined> => {
    const version = idTimeMs(id);
    const time = toIso(version);
    const parameters = startParameters(collection, id, access.userId, time, json);
    const text = createSql(collection, parameters, groupId, onConflict);
    const growth = { records: 1, bytes: sizeBytes };
    const rows = await quota.add(project, growth, () => write(text, parameters));
    const ofGroup = groupId !== undefined && { groupId };
    const ownFields = { id, ownerId: access.userId, ...ofGroup, createdAt: time, updatedAt: time };
    return rows.length === 0 ? undefined : { json: joinRecordJson(ownFields, json), version };
  };

  /** What the caller may not see or change stays. */
  const replace: Records['replace'] = async (target, { json, sizeBytes, has }, versions) => {
    const { access } = target;
    checkChange(access);
    return quota.change(target.project, sizeBytes, async (roomBytes) => {
      const parameters = targetParameters(target);
      const given = parameters.add(json, 'jsonb');
      const kept = keptFieldsSql(access, parameters);
      const data = kept === undefined ? given : `(${given} || ${kept})`;
      const { slots, epoch } = target.collection;
      const keys = slotAssignments(slots, data, parameters);
      const update = updateSql(data, keys, parameters);
      const fields = replacedFields(json, has);
      const matches = and([
        changeableRow(target, 'change', versions, parameters),
        freeFieldsSql(access, fields, parameters),
        isCurrentSql(epoch, parameters),
      ]);
      const where = withinRoom(matches, data, roomBytes, parameters);
      const text = updatedSql(update, where, access, parameters);
      return change(target, text, parameters, { action: 'change', versions, fields, roomBytes });
    });
  };

  const applyPatch = (
    target: RecordTarget,
    changes: Patch,
    versions: AcceptedVersions,
    roomBytes: number | undefined,
  ): Promise<RecordJson> => {
    const parameters = targetParameters(target);
    const { data, condition } = patchSql(changes, parameters);
    const { slots, epoch } = target.collection;
    const keys = slotAssignments(slots, data, parameters, changesField(changes));
    const update = updateSql(data, keys, parameters);
    const fields = changedFields(changes);
    const matches = and([
      changeableRow(target, 'change', versions, parameters),
      freeFieldsSql(target.access, fields, parameters),
      condition,
      isCurrentSql(epoch, parameters),
    ]);
    const where = withinRoom(matches, data, roomBytes, parameters);
    const text = updatedSql(update, where, target.access, parameters);
    const reasons = { versions, inc: changes.inc, fields };
    return change(target, text, parameters, { action: 'change', ...reasons, roomBytes });
  };

  const patch: Records['patch'] = async (target, changes, versions) => {
    checkChange(target.access);
    return quota.change(target.project, changes.maxGrowthBytes, (roomBytes) =>
      applyPatch(target, changes, versions, roomBytes),
    );
  };

  const upsert = async (target: RecordTarget, data: CheckedData): Promise<RecordJson> => {
    checkChange(target.access);
    const { id, access } = target;
    const mayCreate = access.rights.create === 'all' && isNewId(id, now());
    let refusal: unknown;
    if (mayCreate) {
      try {
        checkNewFields(access, data, target);
        const newTarget = { ...target, id: id.toLowerCase() };
        const created = await insert(newTarget, data, 'ON CONFLICT DO NOTHING');
        if (created) return created;
      } catch (error) {
        // What is there already may be replaced by something smaller, or has the field already.
        if (!isRefused(error)) throw error;
        refusal = error;
      }
    }
    try {
      return await replace(target, data, undefined);
    } catch (error) {
      if (!isRefusedAs('not_found', error)) throw error;
      checkCreate(access, target, null);
      if (refusal !== undefined) throw refusal;
      throw mayCreate ? error : new ApiError('invalid_path', newIdRule);
    }
  };

  return {
    async create(project, collection, access, data) {
      checkCreate(access, { project, collection }, data.groupId ?? null);
      checkNewFields(access, data, { project, collection });
      const id = ids.generateOrResetWithTs(now()).toString();
      const target = { project, collection, access, id };
      return onCurrentSlots(refresh, target, async (target) => {
        const created = await insert(target, data);
        if (created) return created;
        await checkEpoch(database, target.collection);
        throw new Error(`The id ${id} was there already.`);
      });
    },

    upsert: (target, data) => onCurrentSlots(refresh, target, (current) => upsert(current, data)),

    async get(target, { flow, signal }) {
      const { access } = target;
      checkRead(access);
      const parameters = targetParameters(target);
      const { values } = parameters;
      const policy = rowPolicySql(access.rights.read, access, parameters);
      const statement = readStatement(policy, visibleRecordsSql(access, parameters));
      const [small] = await database.read(statement.name, statement.text, values);
      if (!small) throw recordNotFound();
      if (small[0]) return { json: small[0], version: Number(small[1]) };
      const readWhole = () => database.query<RecordJson>(statement.wholeText, values);
      const release = await answers.take(flow, { signal });
      try {
        const [whole] = await scans.run(flow, readWhole, { signal });
        if (whole) return { ...whole, release };
        throw recordNotFound();
      } catch (error) {
        release();
        throw error;
      }
    },

    patch: (target, changes, versions) =>
      onCurrentSlots(refresh, target, (current) => patch(current, changes, versions)),

    patchBeyondQuota: (target, changes) =>
      onCurrentSlots(refresh, target, (current) =>
        applyPatch(current, changes, undefined, undefined),
      ),

    replace: (target, data, versions) =>
      onCurrentSlots(refresh, target, (current) => replace(current, data, versions)),

    remove: (target, versions) =>
      onCurrentSlots(refresh, target, async (target) => {
        checkChange(target.access, 'delete');
        const parameters = targetParameters(target);
        const where = changeableRow(target, 'delete', versions, parameters);
        const text = countedSql(
          `DELETE FROM records WHERE ${where} RETURNING -size_bytes AS growth`,
          -1,
          `'' AS json, 0 AS version`,
        );
        await change(target, text, parameters, { action: 'delete', versions });
      }),
  };
};
