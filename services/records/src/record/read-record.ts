import { type Database, mostBatched } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import type { JsonPart } from '@backlot/http';
import { checkRead, recordNotFound, rowPolicySql } from '../collections/access.ts';
import { visibleRecordsSql } from '../collections/field-rules.ts';
import { createKeptStatements } from '../query/prepared/kept-statements.ts';
import type { Reader } from '../reader.ts';
import {
  and,
  inCollection,
  matchesId,
  maxPipelinedBytes,
  ownFieldsSql,
  type Parameters,
  recordJsonSql,
  startParameters,
  versionSql,
} from '../sql.ts';
import { batchReads } from './batched/batched-reads.ts';
import { type RecordTarget, targetParameters } from './refusals.ts';
import { joinJson } from './written-record.ts';

export interface ReadRecordDeps {
  database: Database;
  /** A slot for each large record while PostgreSQL is at it. */
  largeReads: FairShares;
  /** A slot for each large answer that is read or not yet taken. */
  answers: FairShares;
}

/** One record as the API writes it. */
export interface ReadRecord {
  json: JsonPart;
  /** As {@link WrittenRecord} has it. */
  version: number;
  /** Gives the slot of a large one back. */
  release?: () => void;
}

const ifSmall = (column: string) =>
  `CASE WHEN size_bytes <= ${maxPipelinedBytes} THEN ${column} END`;
/** The document by itself, because joining it here would work out twice what of it is hidden. */
const smallRecordColumns = `${ifSmall(ownFieldsSql())}, ${versionSql}, ${ifSmall('data::text')}`;

const isAmong = `${inCollection} AND id IN (${Array.from({ length: mostBatched }, (_, n) => `$${n + 3}`).join(', ')})`;

const readText = (
  columns: string,
  target: RecordTarget,
  parameters: Parameters,
  matches = matchesId,
): string => {
  const { access } = target;
  const policy = rowPolicySql(access.rights.read, access, parameters);
  return `SELECT ${columns} FROM ${visibleRecordsSql(target, parameters)} WHERE ${and([matches, policy])}`;
};

/** @returns what `Records.get` is */
export const createReadRecord = ({ database, largeReads, answers }: ReadRecordDeps) => {
  const prepare = createKeptStatements('records_get');
  const batched = batchReads(database);

  const readWhole = async (target: RecordTarget) => {
    const parameters = targetParameters(target);
    const text = readText(`${recordJsonSql()}, ${versionSql}`, target, parameters);
    return database.bytes(text, parameters.values);
  };

  return async (target: RecordTarget, reader: Reader): Promise<ReadRecord> => {
    const { access, collection } = target;
    checkRead(access);
    const { values } = targetParameters(target);
    const alone = prepare(target, 'alone', values, (anyone, parameters) =>
      readText(smallRecordColumns, { ...target, access: anyone }, parameters),
    );
    const among = (ids: readonly (string | null)[]) => {
      const { values } = startParameters(collection, ...ids);
      return prepare(target, 'among', values, (anyone, parameters) =>
        readText(`${smallRecordColumns}, id`, { ...target, access: anyone }, parameters, isAmong),
      );
    };
    const small = await batched({ id: target.id, alone, among });
    if (!small) throw recordNotFound();
    const [ownFields, version, data] = small;
    if (ownFields && data) return { json: joinJson(ownFields, data), version: Number(version) };
    const { requester, signal } = reader;
    const release = await answers.take(requester, { signal });
    try {
      const [whole] = await largeReads.run(requester, () => readWhole(target), { signal });
      const [json, version] = whole ?? [];
      if (json) return { json, version: Number(version), release };
      throw recordNotFound();
    } catch (error) {
      release();
      throw error;
    }
  };
};
