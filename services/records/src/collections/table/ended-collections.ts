import { type EventPayloads, undoRoutes } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { Source } from '../../source.ts';
import { toIso } from '../../timestamps.ts';
import { giveUp, isKeptSql } from './removal.ts';

/** Of a project. */
const maxKept = 100;
/** Records of which the owner is told, unless they have deleted them themself. */
const many = 100;
const dayMs = 24 * 60 * 60 * 1000;

export interface EndedCollection {
  projectNumber: number;
  id: number;
  name: string;
  isEmptied: boolean;
  records: number;
  /** Null: it is erased at once. */
  keptUntil: Date | null;
  source: Source;
}

/** More than these are erased, the oldest first. */
const giveUpOldest = async (database: Database, projectNumber: number) => {
  const old = await database.query<{ id: number }>(
    `SELECT coll_id AS id FROM collections WHERE project_id = $1 AND ${isKeptSql}
     ORDER BY deleted_at DESC OFFSET ${undoRoutes.maxTrashedCollections}`,
    [projectNumber],
  );
  if (old.length > 0)
    await giveUp(
      database,
      projectNumber,
      old.map(({ id }) => id),
    );
};

/**
 * Notes what has ended and until when it can come back, and tells the owner where a key has deleted many records, once a
 * day and project. In the surrounding transaction, which has locked the project's collections.
 */
export const noteEnd = async (
  database: Database,
  outbox: Outbox<EventPayloads>,
  { projectNumber, id, name, isEmptied, records, keptUntil, source }: EndedCollection,
  nowMs: number,
): Promise<void> => {
  if (records === 0 && keptUntil === null) return;
  const { actor, requestId, project } = source;
  const isTold = records > many && actor?.startsWith('key:') === true;
  const since = new Date(nowMs - dayMs);
  const [told] = await database.query<{ before: number }>(
    `SELECT count(*)::int AS before FROM ended_collections
      WHERE project_id = $1 AND ended_at > $2 AND records > ${many} AND actor LIKE 'key:%'`,
    [projectNumber, since],
  );
  await database.query(
    `INSERT INTO ended_collections (project_id, coll_id, name, is_emptied, records, actor, request_id, ended_at, kept_until)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [projectNumber, id, name, isEmptied, records, actor, requestId, new Date(nowMs), keptUntil],
  );
  await giveUpOldest(database, projectNumber);
  await database.query(
    `DELETE FROM ended_collections ended WHERE project_id = $1 AND ended_at < (
       SELECT min(ended_at) FROM (
         SELECT ended_at FROM ended_collections WHERE project_id = $1 ORDER BY ended_at DESC LIMIT ${maxKept}) newest)
       AND NOT EXISTS (SELECT FROM collections own WHERE own.project_id = $1 AND own.coll_id = ended.coll_id AND own.deleted_at = ended.kept_until)`,
    [projectNumber],
  );
  if (!isTold || (told?.before ?? 0) > 0 || !project?.ownerId) return;
  await outbox.append('records.deleted', {
    projectId: project.id,
    projectNumber,
    projectName: project.name,
    ownerId: project.ownerId,
    actor: actor ?? 'visitor',
    count: records,
    since: toIso(nowMs),
    collection: name,
    ...(keptUntil && { keptUntil: keptUntil.toISOString() }),
  });
};
