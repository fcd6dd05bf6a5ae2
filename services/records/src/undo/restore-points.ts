import { ApiError, type RestorePoint, undoRoutes } from '@backlot/contract';
import { type Database, violatedConstraint } from '@backlot/database';
import { isoTimeSql } from '../sql.ts';

export interface RestorePoints {
  /** @throws ApiError conflict where there is one of this name, limit_reached */
  create(projectNumber: number, name: string): Promise<RestorePoint>;
  /** Newest first. */
  list(projectNumber: number): Promise<RestorePoint[]>;
  /** @throws ApiError not_found */
  remove(projectNumber: number, name: string): Promise<void>;
}

const { maxRestorePoints } = undoRoutes;
const ofProject = 'project_id = $1';
const columns = `name, ${isoTimeSql('created_at')} AS "createdAt"`;

export const noRestorePoint = () =>
  new ApiError('not_found', 'There is no such restore point.', {
    hint: 'GET /api/platform/projects/<id>/restore-points lists them.',
  });

/** @param now epoch milliseconds */
export const createRestorePoints = (database: Database, now: () => number): RestorePoints => ({
  create: (projectNumber, name) =>
    database.transaction(async () => {
      await database.query(`SELECT pg_advisory_xact_lock(hashtextextended('restore points', $1))`, [
        projectNumber,
      ]);
      const [{ points = 0 } = {}] = await database.query<{ points: number }>(
        `SELECT count(*)::int AS points FROM restore_points WHERE ${ofProject}`,
        [projectNumber],
      );
      if (points >= maxRestorePoints)
        throw new ApiError(
          'limit_reached',
          `A project has at most ${maxRestorePoints} restore points.`,
          {
            hint: 'DELETE …/restore-points/<name> takes one away.',
          },
        );
      const inserting = database.query(
        'INSERT INTO restore_points (project_id, name, created_at) VALUES ($1, $2, $3)',
        [projectNumber, name, new Date(now())],
      );
      await inserting.catch((error: unknown) => {
        if (violatedConstraint(error) !== 'restore_points_pkey') throw error;
        throw new ApiError('conflict', `There is a restore point ${JSON.stringify(name)} already.`);
      });
      const [point] = await database.query<RestorePoint & { snapshot: string }>(
        `SELECT ${columns}, records.log_snapshot(created_at)::text AS snapshot FROM restore_points WHERE ${ofProject} AND name = $2`,
        [projectNumber, name],
      );
      if (!point) throw noRestorePoint();
      const { snapshot, ...shown } = point;
      await database.query(
        `UPDATE restore_points SET snapshot = $3::pg_snapshot WHERE ${ofProject} AND name = $2`,
        [projectNumber, name, snapshot],
      );
      return shown;
    }),

  list: (projectNumber) =>
    database.query<RestorePoint>(
      `SELECT ${columns} FROM restore_points WHERE ${ofProject} ORDER BY restore_points.created_at DESC, name LIMIT ${maxRestorePoints}`,
      [projectNumber],
    ),

  async remove(projectNumber, name) {
    if (!undoRoutes.pointName.safeParse(name).success) throw noRestorePoint();
    const gone = await database.query(
      `DELETE FROM restore_points WHERE ${ofProject} AND name = $2 RETURNING 1`,
      [projectNumber, name],
    );
    if (gone.length === 0) throw noRestorePoint();
  },
});
