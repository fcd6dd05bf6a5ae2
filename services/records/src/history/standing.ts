import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { checkRead } from '../collections/access.ts';
import { visibleDataSql } from '../collections/field-rules.ts';
import { recordNotFound } from '../collections/forbidden.ts';
import { checkId, type RecordTarget } from '../record/refusals.ts';
import { matchesId, recordJsonSql, versionSql } from '../sql.ts';
import {
  formerSharesSql,
  isEntrySql,
  judgedSql,
  pastRecordsSql,
  startRecord,
} from './past-records.ts';

/** A record as it is now or, where it is gone, was last: what that says decides who sees its past. */
export interface Standing {
  isThere: boolean;
  changeable: boolean;
  /** Fields that are kept from the caller. */
  hidden: readonly string[];
  frozen: readonly string[];
  /** JSON, as the caller sees it. */
  json: string;
  version: number;
  /** Of one that is gone: its last change, and who had a share of it. */
  last: { seq: number; sharedWith: readonly string[] } | null;
}

type Row = Omit<Standing, 'isThere' | 'last'> & { readable: boolean };

const historyIsOff = ({ project, collection }: RecordTarget) =>
  new ApiError(
    'conflict',
    `No changes are kept of the collection ${JSON.stringify(collection.name)}.`,
    {
      hint: `The project’s owner has changes kept by PUT /api/platform/projects/${project.id}/collections/${collection.name} {"history": true}.`,
    },
  );

const readRow = async (
  database: Database,
  target: RecordTarget,
  last: Standing['last'],
): Promise<Row | undefined> => {
  const { access } = target;
  const parameters = startRecord(target);
  const shares = formerSharesSql(last?.sharedWith, parameters);
  const from = last
    ? pastRecordsSql(target, parameters, isEntrySql(last.seq, parameters))
    : 'records';
  const [row] = await database.query<Row>(
    `${shares}SELECT ${judgedSql(access, parameters)}, ${versionSql} AS version,
       ${recordJsonSql(undefined, visibleDataSql(access, parameters))} AS json
     FROM ${from} WHERE ${matchesId}`,
    parameters.values,
  );
  return row;
};

/** The deletion by which a record is gone. */
const findLast = async (database: Database, target: RecordTarget): Promise<Standing['last']> => {
  const parameters = startRecord(target);
  const newest = pastRecordsSql(target, parameters, 'true', 'ORDER BY seq DESC LIMIT 1');
  const [row] = await database.scan<{ seq: number; kind: string; users: string[] | null }>(
    `SELECT seq, kind, old_shares AS users FROM ${newest}`,
    parameters.values,
  );
  return row?.kind === 'd' ? { seq: row.seq, sharedWith: row.users ?? [] } : null;
};

/** @throws ApiError not_found, unauthenticated where the caller may not read the record; conflict where nothing is kept */
export const readStanding = async (database: Database, target: RecordTarget): Promise<Standing> => {
  checkRead(target.access);
  checkId(target);
  const now = await readRow(database, target, null);
  const last = now ? null : await findLast(database, target);
  const row = now ?? (last && (await readRow(database, target, last)));
  if (!row?.readable) throw recordNotFound();
  if (target.collection.hasHistory === false) throw historyIsOff(target);
  return { ...row, isThere: now !== undefined, last };
};
