import { ApiError, type creditRoutes, type RouteQuery } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Projects } from '../projects/projects.ts';
import type { ProjectScope } from '../projects/scope.ts';

type UsageKind = RouteQuery<typeof creditRoutes.getUsage>['by'];

export interface UsageQuery {
  /** Calendar days (UTC), both included: `2026-11-21`. */
  from?: string | undefined;
  to?: string | undefined;
  by: UsageKind;
  /** operationId: what calls of this route alone came to, and used. */
  route?: string | undefined;
}

export interface UsageItem {
  day?: string;
  route?: string;
  /** Null: all together who came after the bound of a day. */
  caller?: string | null;
  address?: string | null;
  calls: number;
  millicredits: number;
  /** Tokens, recipients or bytes; where one route is asked for. */
  units?: number;
}

export interface UsageReport {
  from: string;
  to: string;
  by: UsageKind;
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
const maxItems = 1000;

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

const project =
  '(SELECT number FROM projects WHERE number = $1 AND (owner_id = $2 OR $3) AND deleted_at IS NULL)';

const debits = `FROM transfers WHERE kind = 'debit' AND project_number = ${project}
   AND occurred_at >= $4::timestamptz AND occurred_at < $5::timestamptz`;

const spentBy = (kind: string) =>
  `SELECT nullif(name, '') AS name, sum(calls)::int8 AS calls, sum(millicredits)::int8 AS millicredits
     FROM spenders WHERE project_number = ${project} AND kind = '${kind}'
      AND day >= ($4::timestamptz AT TIME ZONE 'UTC')::date AND day < ($5::timestamptz AT TIME ZONE 'UTC')::date
    GROUP BY name ORDER BY millicredits DESC, name LIMIT ${maxItems}`;

/** Days without any included. */
const byDay = (columns: string, sums: string, condition = '') =>
  `SELECT to_char(day, 'YYYY-MM-DD') AS name, coalesce(calls, 0)::int8 AS calls,
          coalesce(millicredits, 0)::int8 AS millicredits ${columns}
     FROM generate_series($4::timestamptz AT TIME ZONE 'UTC', ($5::timestamptz AT TIME ZONE 'UTC') - interval '1 day', '1 day') day
     LEFT JOIN (
       SELECT date_trunc('day', occurred_at AT TIME ZONE 'UTC') AS day, count(*) AS calls,
              sum(amount_millicredits) AS millicredits ${sums} ${debits} ${condition} GROUP BY 1) used USING (day)
    ORDER BY day`;

/** A call has one unit, that of its route's price. */
const ofRoute = byDay(
  ', coalesce(units, 0)::float8 AS units',
  ", sum((SELECT sum(used.value::numeric) FROM jsonb_each_text(coalesce(units, '{}')) used)) AS units",
  'AND route = $6',
);

const queries: Record<UsageKind, string> = {
  day: byDay('', ''),
  route: `SELECT route AS name, count(*) AS calls, sum(amount_millicredits)::int8 AS millicredits
            ${debits} GROUP BY route ORDER BY millicredits DESC, route LIMIT ${maxItems}`,
  caller: spentBy('caller'),
  address: spentBy('address'),
};

interface UsageRow {
  name: string | null;
  calls: number;
  millicredits: number;
  units?: number;
}

export type UsageReports = ReturnType<typeof createUsageReports>;

/** What a project's priced calls came to, read from the ledger, by the time of the work. */
export const createUsageReports = (
  database: Database,
  projects: Pick<Projects, 'get'>,
  now: () => number,
) => ({
  /** @throws ApiError project_not_found, project_deleted, invalid_query */
  async create(scope: ProjectScope, { from, to, by, route }: UsageQuery): Promise<UsageReport> {
    const last = to === undefined ? Date.parse(day(now())) : Date.parse(to);
    const first = from === undefined ? last - (defaultDays - 1) * dayMs : Date.parse(from);
    if (first > last) throw new ApiError('invalid_query', '"from" must not be after "to"');
    const end = last + dayMs;
    if (end - first > maxDays * dayMs) {
      throw new ApiError('invalid_query', `"from": at most ${maxDays} days can be asked for`);
    }
    if (route !== undefined && by !== 'day')
      throw new ApiError('invalid_query', '"route": goes with by=day alone');
    const { ownerId } = await projects.get(scope);
    const { projectNumber, anyOwner } = scope;
    const values = [projectNumber, ownerId, anyOwner, new Date(first), new Date(end)];
    const rows = await (route === undefined
      ? database.query<UsageRow>(queries[by], values)
      : database.query<UsageRow>(ofRoute, [...values, route]));
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
