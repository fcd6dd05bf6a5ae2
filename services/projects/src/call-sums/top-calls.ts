import {
  ApiError,
  type platformUsageRoutes,
  type RouteQuery,
  type RouteResponse,
} from '@backlot/contract';
import type { Database } from '@backlot/database';
import { chooseSpan } from './steps.ts';

type UsageQuery = RouteQuery<typeof platformUsageRoutes.getPlatformUsage>;
type PlatformUsage = RouteResponse<typeof platformUsageRoutes.getPlatformUsage>;
type Row = PlatformUsage['items'][number] & { total: number };

const sums = `sum(calls)::int8 AS calls, sum(errors)::int8 AS errors, sum(refusals)::int8 AS refusals,
  sum(faults)::int8 AS faults, sum(bytes)::int8 AS bytes, round(sum(database_us) / 1000)::int8 AS "dbMs",
  round(sum(thread_us) / 1000)::int8 AS "cpuMs", sum(millicredits)::int8 AS millicredits`;

const sumBy = (column: string) => `SELECT ${column}, ${sums} FROM chosen GROUP BY ${column}`;

/** What a line is of, and whose rows it adds up. */
const groups = {
  project: {
    kind: 'route',
    summed: sumBy('project_number'),
    shown: `CASE WHEN deleted_at IS NULL THEN status ELSE 'deleted' END AS status, id AS "projectId",
      projects.name AS "projectName", owner_id AS "ownerId"`,
    join: 'LEFT JOIN projects ON number = project_number',
  },
  owner: {
    kind: 'route',
    // By project first: so many fewer rows are joined.
    summed: `SELECT owner_id, sum(calls)::int8 AS calls, sum(errors)::int8 AS errors, sum(refusals)::int8 AS refusals,
        sum(faults)::int8 AS faults, sum(bytes)::int8 AS bytes, sum("dbMs")::int8 AS "dbMs",
        sum("cpuMs")::int8 AS "cpuMs", sum(ofproject.millicredits)::int8 AS millicredits
      FROM (${sumBy('project_number')}) AS ofproject LEFT JOIN projects ON number = project_number
     GROUP BY owner_id`,
    shown: 'owner_id AS "ownerId"',
    join: '',
  },
  route: {
    kind: 'route',
    summed: sumBy('name'),
    shown: `nullif(summed.name, '') AS route`,
    join: '',
  },
  address: {
    kind: 'address',
    summed: sumBy('name'),
    shown: `nullif(summed.name, '') AS address`,
    join: '',
  },
} as const;

/** `-errors` and the like: the column of the answer. */
const toColumn = (sort: UsageQuery['sort']) => `"${sort.slice(1)}"`;

/** Adds up what calls came to, the heaviest first. */
export const createTopCalls =
  (database: Database, now: () => number) =>
  async ({
    by,
    sort,
    from,
    to,
    limit,
    projectId,
    ownerId,
    route,
  }: UsageQuery): Promise<PlatformUsage> => {
    if (by === 'address' && route !== undefined)
      throw new ApiError('invalid_query', '"route" does not go with by=address.');
    const { step, ...span } = chooseSpan({ from, to }, now());
    const group = groups[by];
    const rows = await database.acrossProjects(() =>
      database.scan<Row>(
        `WITH chosen AS (
           SELECT * FROM call_sums
            WHERE kind = $1 AND step = $2 AND period >= $3 AND period < $4
              AND ($5::text IS NULL OR project_number = (SELECT number FROM projects WHERE id = $5))
              AND ($6::uuid IS NULL OR project_number IN (SELECT number FROM projects WHERE owner_id = $6))
              AND ($7::text IS NULL OR call_sums.name = $7)),
         summed AS (${group.summed})
         SELECT ${group.shown}, calls, errors, refusals, faults, bytes, "dbMs", "cpuMs", summed.millicredits,
                coalesce(sum(summed.${toColumn(sort)}) OVER (), 0)::int8 AS total
           FROM summed ${group.join} ORDER BY ${toColumn(sort)} DESC, calls DESC LIMIT $8`,
        [
          group.kind,
          step,
          new Date(span.from),
          new Date(span.until),
          projectId ?? null,
          ownerId ?? null,
          route ?? null,
          limit,
        ],
      ),
    );
    return {
      by,
      step,
      from: new Date(span.from).toISOString(),
      to: new Date(span.until).toISOString(),
      total: rows[0]?.total ?? 0,
      items: rows.map(({ total: _, ...item }) => item),
      hasMore: false,
      nextCursor: null,
    };
  };
