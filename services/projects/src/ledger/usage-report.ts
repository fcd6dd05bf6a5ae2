import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Projects } from '../projects/projects.ts';
import type { ProjectScope } from '../projects/scope.ts';

export interface UsageQuery {
  /** Calendar days (UTC), both included: `2026-11-21`. */
  from?: string | undefined;
  to?: string | undefined;
  by: 'day' | 'route';
}

export interface UsageItem {
  day?: string;
  route?: string;
  calls: number;
  millicredits: number;
}

export interface UsageReport {
  from: string;
  to: string;
  by: 'day' | 'route';
  calls: number;
  millicredits: number;
  items: UsageItem[];
  /** All of it is in one answer. */
  hasMore: false;
  nextCursor: null;
}

const dayMs = 24 * 60 * 60 * 1000;
const maxDays = 366;
const defaultDays = 30;
const maxRoutes = 1000;

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

const debits = `FROM transfers WHERE kind = 'debit'
   AND project_number = (SELECT number FROM projects WHERE number = $1 AND (owner_id = $2 OR $3) AND deleted_at IS NULL)
   AND occurred_at >= $4::timestamptz AND occurred_at < $5::timestamptz`;

const queries = {
  day: `SELECT to_char(day, 'YYYY-MM-DD') AS name, coalesce(calls, 0)::int8 AS calls,
               coalesce(millicredits, 0)::int8 AS millicredits
          FROM generate_series($4::timestamptz AT TIME ZONE 'UTC', ($5::timestamptz AT TIME ZONE 'UTC') - interval '1 day', '1 day') day
          LEFT JOIN (
            SELECT date_trunc('day', occurred_at AT TIME ZONE 'UTC') AS day, count(*) AS calls,
                   sum(amount_millicredits) AS millicredits ${debits} GROUP BY 1) used USING (day)
         ORDER BY day`,
  route: `SELECT route AS name, count(*) AS calls, sum(amount_millicredits)::int8 AS millicredits
            ${debits} GROUP BY route ORDER BY millicredits DESC, route LIMIT ${maxRoutes}`,
};

export type UsageReports = ReturnType<typeof createUsageReports>;

/** What a project's priced calls came to, read from the ledger, by the time of the work. */
export const createUsageReports = (
  database: Database,
  projects: Pick<Projects, 'get'>,
  now: () => number,
) => ({
  /** @throws ApiError project_not_found, project_deleted, invalid_query */
  async create(scope: ProjectScope, { from, to, by }: UsageQuery): Promise<UsageReport> {
    const last = to === undefined ? Date.parse(day(now())) : Date.parse(to);
    const first = from === undefined ? last - (defaultDays - 1) * dayMs : Date.parse(from);
    if (first > last) throw new ApiError('invalid_query', '"from" must not be after "to"');
    const end = last + dayMs;
    if (end - first > maxDays * dayMs) {
      throw new ApiError('invalid_query', `"from": at most ${maxDays} days can be asked for`);
    }
    await projects.get(scope);
    const rows = await database.query<{ name: string; calls: number; millicredits: number }>(
      queries[by],
      [scope.projectNumber, scope.ownerId, scope.anyOwner, new Date(first), new Date(end)],
    );
    const items = rows.map(({ name, ...sums }) => ({ [by]: name, ...sums }));
    const sum = (of: 'calls' | 'millicredits') => rows.reduce((all, row) => all + row[of], 0);
    return {
      from: day(first),
      to: day(last),
      by,
      calls: sum('calls'),
      millicredits: sum('millicredits'),
      items,
      hasMore: false,
      nextCursor: null,
    };
  },
});
