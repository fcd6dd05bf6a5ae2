import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { V7Generator } from 'uuidv7';
import {
  type Access,
  checkChange,
  checkCreate,
  checkRead,
  reachSql,
  recordNotFound,
} from './access.ts';
import {
  type AcceptedVersions,
  explainRefusal,
  type Target,
  translateWriteError,
} from './change.ts';
import type { Collection } from './collections.ts';
import { isUuid } from './fields.ts';
import { timeOfId } from './instant.ts';
import type { Parameters } from './parameters.ts';
import { type Patch, patchSql } from './patch.ts';
import { joinRecordJson, recordText, versionOf } from './record-text.ts';
import { all, inCollection, startParameters } from './statement.ts';

/** One record as the API writes it. */
export interface Written {
  json: string;
  /** Grows with every change: epoch milliseconds of `updatedAt`. */
  version: number;
}

/**
 * Records one by one. All methods throw ApiError: not_found for what the caller may not see,
 * unauthenticated or forbidden for what they may not do, precondition_failed for another version,
 * invalid_data where the result would exceed the limits.
 */
export interface Records {
  create(collection: Collection, access: Access, dataJson: string): Promise<Written>;
  get(target: Target): Promise<Written>;
  patch(target: Target, patch: Patch, versions: AcceptedVersions): Promise<Written>;
  replace(target: Target, dataJson: string, versions: AcceptedVersions): Promise<Written>;
  remove(target: Target, versions: AcceptedVersions): Promise<void>;
}

export interface RecordsDeps {
  database: Database;
  /** Epoch milliseconds. */
  now: () => number;
}

/** A change is tried again where the reason for its refusal has gone by the time it is looked for. */
const maxTries = 3;

const isoOf = (ms: number) => new Date(ms).toISOString();
const row = `${inCollection} AND id = $3`;
const written = `${recordText()} AS json, ${versionOf} AS version`;

const rowOf = ({ collection, id }: Target): Parameters => {
  if (!isUuid(id)) throw recordNotFound();
  return startParameters(collection, id);
};

/** The row, as far as this caller may change it and it has one of the versions. */
const changeableRow = ({ access }: Target, versions: AcceptedVersions, parameters: Parameters) =>
  all([
    row,
    reachSql(access.rights.change, access.userId, parameters),
    versions && `updated_at = ANY (${parameters.add(versions.map(isoOf), 'timestamptz[]')})`,
  ]);

export const createRecords = ({ database, now }: RecordsDeps): Records => {
  const ids = new V7Generator();
  /** The texts differ by who may what and which parts a patch has: a few dozen in all. */
  const names = new Map<string, string>();
  const nameOf = (text: string): string => {
    const name = names.get(text) ?? `records_${names.size}`;
    names.set(text, name);
    return name;
  };

  /** By the short condition, because hashing the whole text anew was 2 % of a get. */
  const readings = new Map<string | undefined, { name: string; text: string }>();
  const readingOf = (reach: string | undefined) => {
    const known = readings.get(reach);
    if (known) return known;
    const text = `SELECT ${written} FROM records WHERE ${all([row, reach])}`;
    const reading = { name: nameOf(text), text };
    readings.set(reach, reading);
    return reading;
  };

  const change = async (
    target: Target,
    text: string,
    { values }: Parameters,
    versions: AcceptedVersions,
    inc: Patch['inc'] = {},
  ): Promise<Written> => {
    for (let tries = 0; tries < maxTries; tries++) {
      const [changed] = await database
        .named<Written>(nameOf(text), text, values)
        .catch((error: unknown) => Promise.reject(translateWriteError(error)));
      if (changed) return changed;
      await explainRefusal(database, target, versions, inc);
    }
    throw new ApiError('conflict', 'This record changes too often just now. Try again.');
  };

  /** The version grows even where two changes fall into one millisecond or the clock steps back. */
  const setting = (data: string, parameters: Parameters): string => {
    const time = parameters.add(isoOf(now()), 'timestamptz');
    return `UPDATE records SET data = ${data}, updated_at = greatest(${time}, updated_at + interval '1 ms')`;
  };

  return {
    async create(collection, access, dataJson) {
      checkCreate(access);
      const id = ids.generateOrResetWithTs(now()).toString();
      const version = timeOfId(id);
      const time = isoOf(version);
      await database
        .named(
          'records_create',
          `INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data)
           VALUES ($1, $2, $3, $4, $5, $5, $6)`,
          [collection.projectNumber, collection.id, id, access.userId, time, dataJson],
        )
        .catch((error: unknown) => Promise.reject(translateWriteError(error)));
      const own = { id, ownerId: access.userId, createdAt: time, updatedAt: time };
      return { json: joinRecordJson(own, dataJson), version };
    },

    async get(target) {
      const { rights, userId } = target.access;
      checkRead(target.access);
      const parameters = rowOf(target);
      const { name, text } = readingOf(reachSql(rights.read, userId, parameters));
      const [found] = await database.read(name, text, parameters.values);
      if (!found?.[0]) throw recordNotFound();
      return { json: found[0], version: Number(found[1]) };
    },

    async patch(target, patch, versions) {
      checkChange(target.access);
      const parameters = rowOf(target);
      const { data, condition } = patchSql(patch, parameters);
      const set = setting(data, parameters);
      const where = all([changeableRow(target, versions, parameters), condition]);
      const text = `${set} WHERE ${where} RETURNING ${written}`;
      return change(target, text, parameters, versions, patch.inc);
    },

    async replace(target, dataJson, versions) {
      checkChange(target.access);
      const parameters = rowOf(target);
      const set = setting(parameters.add(dataJson, 'jsonb'), parameters);
      const where = changeableRow(target, versions, parameters);
      return change(target, `${set} WHERE ${where} RETURNING ${written}`, parameters, versions);
    },

    async remove(target, versions) {
      checkChange(target.access);
      const parameters = rowOf(target);
      const where = changeableRow(target, versions, parameters);
      const text = `DELETE FROM records WHERE ${where} RETURNING '' AS json, 0 AS version`;
      await change(target, text, parameters, versions);
    },
  };
};
