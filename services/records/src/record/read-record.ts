import { batchCalls, type Database, mostBatched, type TextRow } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import type { JsonPart } from '@backlot/http';
import { checkRead } from '../collections/access.ts';
import { readableSql, visibleRecordsSql } from '../collections/field-rules.ts';
import { recordNotFound } from '../collections/forbidden.ts';
import { createKeptStatements, type NamedStatement } from '../query/prepared/kept-statements.ts';
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
import { type RecordTarget, targetParameters } from './refusals.ts';
import { joinJson } from './written-record.ts';

export interface ReadRecordDeps {
  database: Database;
  /** A slot for each large record while PostgreSQL is at it. */
  largeReads: FairShares;
  /** A slot for each large answer that is read or not yet taken. */
  answers: FairShares;
}

export interface ReadRecord {
  json: JsonPart;
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
  const policy = readableSql(access, parameters);
  return `SELECT ${columns} FROM ${visibleRecordsSql(target, parameters)} WHERE ${and([matches, policy])}`;
};

interface BatchedRead {
  id: string;
  /** Its values are project, collection, id, and those of the caller. */
  alone: NamedStatement;
  /** The same of several: the id is one of `mostBatched` values, and a column behind those of `alone`. */
  among(ids: readonly (string | null)[]): NamedStatement;
}

/** Reads that go together differ in the id alone. */
const findKey = ({ alone: { name, text, values } }: BatchedRead): string => {
  const [projectNumber, collectionNumber, , ...ofCaller] = values;
  return `${name || text} ${projectNumber} ${collectionNumber} ${JSON.stringify(ofCaller)}`;
};

/**
 * Has one statement read records of a collection that calls of one kind of caller ask for at once: PostgreSQL works
 * half as long for a call (docs/decisions/0002).
 */
const batchReads = (database: Database): ((read: BatchedRead) => Promise<TextRow | undefined>) => {
  const send = ({ name, text, values }: NamedStatement) => database.read(name, text, values);

  const readAll = async (
    _key: string,
    reads: readonly BatchedRead[],
  ): Promise<readonly (TextRow | undefined)[]> => {
    const [first] = reads;
    if (!first || reads.length === 1)
      return Promise.all(reads.map(async ({ alone }) => (await send(alone))[0]));
    const ids: (string | null)[] = reads.map(({ id }) => id);
    // Always as many, so that PostgreSQL knows how many rows to expect and keeps one plan.
    while (ids.length < mostBatched) ids.push(null);
    const rows = await send(first.among(ids));
    const byId = new Map(rows.map((row) => [row.at(-1), row]));
    return reads.map(({ id }) => byId.get(id.toLowerCase()));
  };
  const batched = batchCalls(readAll);

  return async (read) =>
    database.isInTransaction() ? (await send(read.alone))[0] : batched(findKey(read), read);
};

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
