import { ApiError, isUuid, type Report, reportRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { decodeCursor, encodeCursor, type Page, type PageQuery } from '@backlot/http';
import { z } from 'zod';
import { readAcrossProjects } from '../across-projects.ts';
import type { Collection } from '../collections/collections.ts';
import type { Reader } from '../reader.ts';
import type { Records } from '../record/records.ts';
import type { RecordTarget } from '../record/refusals.ts';
import { isoTimeSql } from '../sql.ts';

/** What users have to say about records, to whoever moderates the app. */
export interface Reports {
  /** Once a record and user. @throws ApiError not_found for what the user can't read, quota_reached, rate_limited */
  put(
    target: RecordTarget,
    report: { userId: string; reason: string },
    reader: Reader,
  ): Promise<void>;
  /** Newest first, of records that are there. @throws ApiError invalid_cursor */
  list(collection: Collection, query: PageQuery): Promise<Page<Report>>;
  /** All of the record. @throws ApiError not_found where there is none */
  dismiss(collection: Collection, recordId: string): Promise<void>;
  /** All that a user has made. */
  eraseUser(projectNumber: number, userId: string): Promise<void>;
  /** All that a user has made is another one's, who keeps the own ones. May be repeated. */
  mergeUser(projectNumber: number, from: string, to: string): Promise<void>;
  /** Those of records that are gone. */
  sweep(): Promise<void>;
}

interface ReportsDeps {
  database: Database;
  records: Pick<Records, 'get'>;
  /** Epoch milliseconds. */
  now: () => number;
}

const { maxReports } = reportRoutes;
const hourMs = 3_600_000;
const sweptProjects = 1000;

const ofProject = 'project_id = $1';
const ofRecord = `${ofProject} AND coll_id = $2 AND record_id = $3`;

/** Where a page ends: time, record and user. */
const position = z.tuple([z.string(), z.uuid(), z.uuid()]);
const scope = { list: ['reports'] };

const noReport = () => new ApiError('not_found', 'Nobody has reported this record.');

interface Counts {
  is_there: boolean;
  of_record: number;
  of_user: number;
  of_project: number;
}

/** @throws ApiError quota_reached, rate_limited */
const checkBounds = ({ is_there, of_record, of_user, of_project }: Counts): void => {
  if (is_there) return;
  if (of_user >= maxReports.userPerHour)
    throw new ApiError(
      'rate_limited',
      `You can report at most ${maxReports.userPerHour} records an hour.`,
      { retryAfterSeconds: hourMs / 1000 },
    );
  if (of_record >= maxReports.record)
    throw new ApiError('quota_reached', 'Enough others have reported this record.');
  if (of_project >= maxReports.project)
    throw new ApiError('quota_reached', 'There are too many reports that nobody has looked at.', {
      hint: 'Who moderates the app takes them off the list: DELETE /db/<collection>/<id>/_report.',
    });
};

export const createReports = ({ database, records, now }: ReportsDeps): Reports => {
  const countsSql = `SELECT
    EXISTS (SELECT FROM reports WHERE ${ofRecord} AND user_id = $4) AS is_there,
    (SELECT count(*) FROM reports WHERE ${ofRecord}) AS of_record,
    (SELECT count(*) FROM reports WHERE ${ofProject} AND user_id = $4 AND created_at > $5) AS of_user,
    (SELECT count(*) FROM reports WHERE ${ofProject}) AS of_project`;
  const putSql = `INSERT INTO reports (project_id, coll_id, record_id, user_id, reason, created_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (project_id, coll_id, record_id, user_id) DO UPDATE SET reason = excluded.reason`;

  return {
    async put(target, { userId, reason }, reader) {
      const { release } = await records.get(target, reader);
      release?.();
      const { projectNumber, id } = target.collection;
      const key = [projectNumber, id, target.id, userId];
      await database.transaction(async () => {
        // One after the other in a project: reports are few, and the bounds are exact.
        await database.query(`SELECT pg_advisory_xact_lock(hashtextextended('reports', $1))`, [
          projectNumber,
        ]);
        const hourAgo = new Date(now() - hourMs);
        const [counts] = await database.query<Counts>(countsSql, [...key, hourAgo]);
        if (counts) checkBounds(counts);
        await database.query(putSql, [...key, reason, new Date(now())]);
      });
    },

    async list({ projectNumber, id }, { limit, cursor }) {
      const after = cursor === undefined ? null : decodeCursor(cursor, position, scope);
      if (limit === 0) return { items: [], hasMore: false, nextCursor: null };
      const rows = await database.query<Report>(
        `SELECT record_id AS "recordId", owner_id AS "ownerId", user_id AS "userId", reason,
                ${isoTimeSql('reports.created_at')} AS "createdAt"
           FROM reports JOIN records ON records.project_id = $1 AND records.coll_id = $2 AND records.id = record_id
          WHERE reports.project_id = $1 AND reports.coll_id = $2
            AND ($3::timestamptz IS NULL OR (reports.created_at, record_id, user_id) < ($3, $4::uuid, $5::uuid))
          ORDER BY reports.created_at DESC, record_id DESC, user_id DESC LIMIT $6`,
        [projectNumber, id, ...(after ?? [null, null, null]), limit + 1],
      );
      const items = rows.slice(0, limit);
      const last = items.at(-1);
      const hasMore = rows.length > limit;
      const nextCursor =
        hasMore && last ? encodeCursor([last.createdAt, last.recordId, last.userId], scope) : null;
      return { items, hasMore, nextCursor };
    },

    async dismiss({ projectNumber, id }, recordId) {
      if (!isUuid(recordId)) throw noReport();
      const key = [projectNumber, id, recordId];
      const gone = await database.query(`DELETE FROM reports WHERE ${ofRecord} RETURNING 1`, key);
      if (gone.length === 0) throw noReport();
    },

    async eraseUser(projectNumber, userId) {
      await database.query(`DELETE FROM reports WHERE ${ofProject} AND user_id = $2`, [
        projectNumber,
        userId,
      ]);
    },

    async mergeUser(projectNumber, from, to) {
      await database.query(
        `UPDATE reports SET user_id = $3 WHERE ${ofProject} AND user_id = $2 AND NOT EXISTS (
           SELECT FROM reports own WHERE own.project_id = $1 AND own.coll_id = reports.coll_id
              AND own.record_id = reports.record_id AND own.user_id = $3)`,
        [projectNumber, from, to],
      );
      await this.eraseUser(projectNumber, from);
    },

    async sweep() {
      const projects = await readAcrossProjects<{ project_id: number }>(
        database,
        `SELECT project_id FROM reports GROUP BY project_id ORDER BY random() LIMIT ${sweptProjects}`,
      );
      for (const { project_id: projectNumber } of projects)
        await database.query(
          `DELETE FROM reports WHERE ${ofProject} AND NOT EXISTS (
             SELECT FROM records WHERE records.project_id = $1 AND records.coll_id = reports.coll_id
                AND records.id = reports.record_id)`,
          [projectNumber],
        );
    },
  };
};
