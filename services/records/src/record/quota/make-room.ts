import type { Database } from '@backlot/database';
import { readAcrossProjects } from '../../across-projects.ts';
import { giveUp, isKeptSql } from '../../collections/table/removal.ts';

const ofOwnerSql = 'SELECT project_id FROM project_owners WHERE owner_id = $1';

const isErasingSql = `SELECT FROM collections
  WHERE project_id = ANY ($1::int8[]) AND deleted_at IS NOT NULL AND NOT ${isKeptSql} AND NOT is_erased AND former_name IS NULL LIMIT 1`;

const oldestSql = `SELECT project_id AS project, coll_id AS id FROM collections
  WHERE project_id = ANY ($1::int8[]) AND ${isKeptSql} ORDER BY deleted_at LIMIT 1`;

const lockSql = `SELECT pg_try_advisory_xact_lock(hashtextextended('records room', 0)) AS free`;

/**
 * Lets the oldest of the deleted collections be erased that could have come back, unless one already is: of these
 * projects, or of all projects of their owner. @param isTight asked once nothing is being erased any more
 */
export const makeRoom = (
  database: Database,
  of: { project: number } | { ownerId: string },
  isTight: () => Promise<boolean>,
): Promise<void> =>
  database.transaction(async () => {
    const [lock] = await database.query<{ free: boolean }>(lockSql);
    if (!lock?.free) return;
    const owned =
      'ownerId' in of
        ? await database.query<{ project_id: number }>(ofOwnerSql, [of.ownerId])
        : [{ project_id: of.project }];
    const projects = owned.map(({ project_id }) => project_id);
    const erasing = await readAcrossProjects(database, isErasingSql, [projects]);
    if (erasing.length > 0 || !(await isTight())) return;
    const [oldest] = await readAcrossProjects<{ project: number; id: number }>(
      database,
      oldestSql,
      [projects],
    );
    if (oldest) await giveUp(database, oldest.project, [oldest.id]);
  });
