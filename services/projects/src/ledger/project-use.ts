import type { ProjectUseAsking } from '@backlot/contract';
import type { ProjectUse } from '@backlot/counters';
import type { Database } from '@backlot/database';

/** What a project has used in these days and months (UTC), as booked, by the time of the work. */
export const projectUse = async (
  database: Database,
  { projectNumber, periods }: ProjectUseAsking,
): Promise<ProjectUse[]> => {
  const rows = await database.named<{ period: string; millicredits: number }>(
    'project-use',
    `SELECT period, coalesce(sum(amount_millicredits), 0)::int8 AS millicredits
       FROM unnest($2::text[]) AS period
       CROSS JOIN LATERAL (SELECT rpad(period, 10, '-01')::timestamp AT TIME ZONE 'UTC' AS start,
         CASE length(period) WHEN 7 THEN interval '1 month' ELSE interval '1 day' END AS length) AS span
       LEFT JOIN transfers ON kind = 'debit' AND project_number = $1 AND occurred_at >= start
         AND occurred_at < (start AT TIME ZONE 'UTC' + length) AT TIME ZONE 'UTC'
      GROUP BY period`,
    [projectNumber, periods],
  );
  return rows.map((row) => ({ ...row, name: String(projectNumber) }));
};
