import { type ArchivedShare, archiveLines, shareRoutes } from '@backlot/contract';
import { type Database, violatedConstraint } from '@backlot/database';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import {
  type ArchiveStore,
  invalidArchive,
  readArchiveLines,
  toArchiveLines,
} from '@backlot/service';
import { shareBytes, shareBytesSql } from '../collections/stored/side-sql.ts';
import type { Quota } from '../record/quota/quota.ts';

const pageRows = 1000;

interface Row {
  coll_id: number;
  record_id: string;
  user_id: string;
  email: string;
  may: ArchivedShare['may'];
  shared_by: string | null;
  created_at: Date;
}

const toLine = (row: Row): ArchivedShare => ({
  record: { collection: row.coll_id, id: row.record_id },
  userId: row.user_id,
  email: row.email,
  may: row.may,
  sharedBy: row.shared_by,
  createdAt: row.created_at.toISOString(),
});

const insertSql = `
  WITH put AS (
    INSERT INTO shares (project_id, coll_id, record_id, user_id, email, may, shared_by, created_at)
    SELECT $1, share.* FROM unnest($2::int[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::uuid[], $8::timestamptz[]) share
    RETURNING coll_id, email),
  counted AS (
    INSERT INTO count_delta (project_id, coll_id, d, bytes)
    SELECT own.project_id, own.coll_id, 0, total.growth
      FROM collections own, (SELECT coll_id, sum(${shareBytesSql}) AS growth FROM put GROUP BY coll_id) total
     WHERE own.project_id = $1 AND own.coll_id = total.coll_id)
  SELECT FROM put`;

/** Of a record that is not there, or has more than a record may have. */
const wrongSql = `
  SELECT FROM unnest($2::int[], $3::uuid[]) given (coll_id, record_id)
   WHERE NOT EXISTS (SELECT FROM records WHERE records.project_id = $1
                        AND records.coll_id = given.coll_id AND records.id = given.record_id)
      OR (SELECT count(*) FROM shares WHERE shares.project_id = $1
             AND shares.coll_id = given.coll_id AND shares.record_id = given.record_id) > $4
   LIMIT 1`;

/** Of a record that was there at `$6`, and has not been made again since. */
const wasThereSql = `
  AND EXISTS (SELECT FROM records WHERE records.project_id = $1 AND records.coll_id = shares.coll_id
                 AND records.id = shares.record_id AND records.created_at <= $6)
  AND shares.record_id NOT IN (SELECT record_id FROM changes WHERE changes.project_id = $1
                 AND changes.coll_id = shares.coll_id AND kind = 'c' AND changed_at > $6)`;

/** With whom records are shared, as a project's archive has it. */
export const createSharesArchive = (
  database: Database,
  quota: Pick<Quota, 'add'>,
  batches: FairShares,
): ArchiveStore => {
  const insert = (projectNumber: number, shares: readonly ArchivedShare[]) =>
    database.transaction(async () => {
      const collections = shares.map(({ record }) => record.collection);
      const records = shares.map(({ record }) => record.id);
      await database.query(insertSql, [
        projectNumber,
        collections,
        records,
        shares.map(({ userId }) => userId),
        shares.map(({ email }) => email),
        shares.map(({ may }) => may),
        shares.map(({ sharedBy }) => sharedBy),
        shares.map(({ createdAt }) => createdAt),
      ]);
      const most = shareRoutes.maxShares;
      const wrong = await database.query(wrongSql, [projectNumber, collections, records, most]);
      if (wrong.length > 0)
        throw invalidArchive(`a record is not there, or has more than ${most} shares`);
    });

  return {
    async read({ project, after, asOfMs }) {
      const position = after === null ? [0, null, null, ''] : (JSON.parse(after) as unknown[]);
      const rows = await database.query<Row>(
        `SELECT coll_id, record_id, user_id, email, may, shared_by, created_at FROM shares
          WHERE project_id = $1 AND (coll_id, record_id, user_id, email) > ($2::int,
                  coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'),
                  coalesce($4::uuid, '00000000-0000-0000-0000-000000000000'), $5::text)
            AND EXISTS (SELECT FROM collections WHERE collections.project_id = $1
                           AND collections.coll_id = shares.coll_id AND collections.deleted_at IS NULL)
            ${asOfMs === undefined ? '' : wasThereSql}
          ORDER BY coll_id, record_id, user_id, email LIMIT ${pageRows + 1}`,
        [project.number, ...position, ...(asOfMs === undefined ? [] : [new Date(asOfMs)])],
      );
      return toArchiveLines(rows, pageRows, toLine, ({ coll_id, record_id, user_id, email }) =>
        JSON.stringify([coll_id, record_id, user_id, email]),
      );
    },

    async take(place, lines) {
      const shares = readArchiveLines(archiveLines.share, lines);
      const bytes = shares.reduce((sum, { email }) => sum + shareBytes(email), 0);
      const project = { ...place.project, name: '', settings: {} };
      await batches.run(toRequester(place), () =>
        quota
          .add(project, { records: 0, bytes }, () => insert(project.number, shares))
          .catch((error: unknown) => {
            if (violatedConstraint(error) === undefined) throw error;
            throw invalidArchive('a record is shared twice with one user or address');
          }),
      );
    },
  };
};
