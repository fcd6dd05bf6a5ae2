import type { Caller, RouteResponse, recordRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Does } from './traffic.ts';
import { estimateVisitors } from './visitor-count.ts';

/** The last so many hours, from the full one in which they begin. */
const hours = 24;
const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

export interface CountedCalls {
  collection: string;
  does: Does;
  caller: Caller;
  done: number;
  refused: number;
}

export const trafficSince = (now: number): Date =>
  new Date(now - (now % hourMs) - (hours - 1) * hourMs);

/** At most 25 for each collection that is there, by what was refused most. */
export const readTraffic = (
  database: Database,
  projectNumber: number,
  since: Date,
): Promise<CountedCalls[]> =>
  database.query<CountedCalls>(
    `SELECT collections.name AS collection, does, caller, sum(done)::int8 AS done, sum(refused)::int8 AS refused
       FROM traffic JOIN collections ON collections.project_id = traffic.project_id
        AND collections.coll_id = traffic.coll_id
      WHERE traffic.project_id = $1 AND collections.project_id = $1 AND hour >= $2
      GROUP BY collections.name, does, caller
      ORDER BY refused DESC, collection, does, caller`,
    [projectNumber, since],
  );

type Refusals = RouteResponse<typeof recordRoutes.listRefusals>;
type Visits = RouteResponse<typeof recordRoutes.listVisits>;

export type TrafficReports = ReturnType<typeof createTrafficReports>;

export const createTrafficReports = (database: Database, now: () => number) => ({
  async refusals(projectNumber: number): Promise<Refusals> {
    const since = trafficSince(now());
    const counted = await readTraffic(database, projectNumber, since);
    const items = counted
      .filter(({ refused }) => refused > 0)
      .map(({ does, ...counts }) => ({ rule: does, ...counts }));
    return { since: since.toISOString(), items, hasMore: false, nextCursor: null };
  },

  /** Oldest first, days without any included. */
  async visits(projectNumber: number, days: number): Promise<Visits> {
    const at = now();
    const shown = Array.from({ length: days }, (_, n) =>
      new Date(at - (days - 1 - n) * dayMs).toISOString().slice(0, 10),
    );
    const rows = await database.query<{ day: string; registers: Buffer }>(
      `SELECT to_char(day, 'YYYY-MM-DD') AS day, registers FROM visits WHERE project_id = $1 AND day >= $2`,
      [projectNumber, shown[0]],
    );
    const visitors = new Map(rows.map(({ day, registers }) => [day, estimateVisitors(registers)]));
    const items = shown.map((day) => ({ day, visitors: visitors.get(day) ?? 0 }));
    return { items, hasMore: false, nextCursor: null };
  },
});
