import type { RecordSchema } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { createRunBatch, withRest } from '../indexes/building/batches.ts';
import type { WorkInTurns } from '../indexes/building/glance.ts';
import { createTurns, type Turn } from '../indexes/building/turns.ts';
import { SchemaCheck } from '../schema/check.ts';
import type { CompiledSchema } from '../schema/compiled-schema.ts';
import { parseSchema } from '../schema/parse.ts';
import { inCollection } from '../sql.ts';
import { type TalliedProblem, Tally } from './tally.ts';

/** Of the reports that are running. */
export type ReportRunner = WorkInTurns;

interface RunningRow {
  project_id: number;
  coll_id: number;
  position: string | null;
  problems: TalliedProblem[];
}

interface StoredRecord {
  id: string;
  data: Record<string, unknown>;
}

/** Of a batch: rows, bytes of their documents, and how long this process looks at them. */
const batchRows = 500;
const batchBytes = 1024 * 1024;
const checkMs = 20;

const nextSql = `SELECT DISTINCT ON (project_id) project_id, coll_id FROM schema_reports
  WHERE state = 'running' ORDER BY project_id, random()`;

/** The first is always read. */
const pageSql = `SELECT id, data FROM (
    SELECT id, data, size_bytes, sum(size_bytes) OVER (ORDER BY id) AS bytes FROM (
      SELECT id, data, size_bytes FROM records WHERE ${inCollection} AND id > $3 ORDER BY id LIMIT ${batchRows}) page) sized
  WHERE bytes <= ${batchBytes} OR bytes = size_bytes ORDER BY id`;

const toKey = ({ project_id, coll_id }: RunningRow) => [project_id, coll_id];

/**
 * Looks at all records of collections whose owners want to know what does not fit, in batches along the primary key.
 * Where it has come to and what it has counted are in the batch's transaction: a process that dies loses and repeats
 * nothing.
 */
export const createReportRunner = (database: Database, now: () => number): ReportRunner => {
  const takeTurns = createTurns<RunningRow>({ database, nextSql });
  const runBatch = createRunBatch(database, 'schema reports');

  /** Undefined where there is none any more, or nobody finds the collection. */
  const readSchema = async (row: RunningRow): Promise<CompiledSchema | undefined> => {
    const [found] = await database.query<{ schema: string | null }>(
      `SELECT schema FROM collections WHERE ${inCollection} AND deleted_at IS NULL`,
      toKey(row),
    );
    return found?.schema ? parseSchema(JSON.parse(found.schema) as RecordSchema) : undefined;
  };

  const countBatch = async (row: RunningRow): Promise<void> => {
    const key = toKey(row);
    const schema = await readSchema(row);
    if (!schema) {
      await database.query(`DELETE FROM schema_reports WHERE ${inCollection}`, key);
      return;
    }
    const start = row.position ?? '00000000-0000-0000-0000-000000000000';
    const records = await database.query<StoredRecord>(pageSql, [...key, start]);
    const tally = new Tally(row.problems);
    const checked = countRecords(schema, records, tally);
    const isOver = records.length === 0;
    await database.query(
      `UPDATE schema_reports SET position = coalesce($3, position), checked = checked + $4, unfit = unfit + $5,
         problems = $6, others = others + $7, state = $8, ended_at = $9
       WHERE ${inCollection}`,
      [
        ...key,
        records[checked - 1]?.id ?? null,
        checked,
        tally.unfit,
        JSON.stringify(tally.problems),
        tally.others,
        isOver ? 'done' : 'running',
        isOver ? new Date(now()) : null,
      ],
    );
  };

  const countNext = async (row: RunningRow): Promise<Turn> => {
    const [current] = await database.query<RunningRow>(
      `SELECT project_id, coll_id, position, problems FROM schema_reports
       WHERE ${inCollection} AND state = 'running' FOR UPDATE SKIP LOCKED`,
      toKey(row),
    );
    if (!current) return 'nothing';
    await countBatch(current);
    return 'worked';
  };

  return { nextSql, run: () => takeTurns((row) => withRest(() => runBatch(() => countNext(row)))) };
};

/** Returns how many it has looked at before its time was over; one at least. */
const countRecords = (
  { root }: CompiledSchema,
  records: readonly StoredRecord[],
  tally: Tally,
): number => {
  const endsAt = performance.now() + checkMs;
  for (const [index, { id, data }] of records.entries()) {
    const check = new SchemaCheck();
    check.fields(root, data);
    check.missing(root, (field) => Object.hasOwn(data, field));
    tally.add(id, check.problems);
    if (performance.now() > endsAt) return index + 1;
  }
  return records.length;
};
