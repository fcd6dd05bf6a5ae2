import { type CallLogItem, requestRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { decodeCursor, encodeCursor } from '@backlot/http';
import { z } from 'zod';
import { type CallFilter, fitsCallSql } from './filter.ts';

export interface CallPage {
  items: CallLogItem[];
  cursor: string | null;
  hasMore: boolean;
}

export interface CallQuery extends CallFilter {
  limit: number;
  cursor?: string | undefined;
  since?: string | undefined;
}

export interface NumberedItem {
  line: number;
  item: CallLogItem;
}

const keptMs = requestRoutes.keptCallDays * 24 * 60 * 60_000;
export const oldestKept = (now: number): Date => new Date(now - keptMs);

/** Newest first. A log has at most 10,000 lines that are shown, along its primary key. @throws ApiError invalid_cursor */
export const listCalls = async (
  database: Database,
  projectNumber: number,
  { limit, cursor, since, ...filter }: CallQuery,
  now: number,
): Promise<CallPage> => {
  const scope = { list: `calls of ${projectNumber}` };
  const before = cursor === undefined ? null : decodeCursor(cursor, z.int().min(0), scope);
  const oldest = oldestKept(now);
  const from =
    since === undefined ? oldest : new Date(Math.max(oldest.getTime(), Date.parse(since)));
  const values: unknown[] = [projectNumber, before, from, limit + 1];
  const condition = fitsCallSql(filter, (value) => `$${values.push(value)}`);
  const rows = await database.query<NumberedItem>(
    `SELECT line, item FROM call_lines
      WHERE project_number = $1 AND line < coalesce($2, 9223372036854775807)
        AND line >= (SELECT first_line FROM call_logs WHERE project_number = $1)
        AND at >= $3 AND ${condition}
      ORDER BY line DESC LIMIT $4`,
    values,
  );
  const shown = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  const last = shown.at(-1)?.line ?? before;
  return {
    items: shown.map(({ item }) => item),
    cursor: hasMore && last !== null ? encodeCursor(last, scope) : null,
    hasMore,
  };
};

/** Where the logs of these projects end; none of those that have no log. */
export const readLogEnds = async (
  database: Database,
  projectNumbers: readonly number[],
): Promise<Map<number, number>> => {
  const rows = await database.query<{ project_number: number; last_line: number }>(
    'SELECT project_number, last_line FROM call_logs WHERE project_number = ANY ($1)',
    [projectNumbers],
  );
  return new Map(rows.map((row) => [row.project_number, row.last_line]));
};

/** Lines behind this one, oldest first. */
export const readCallsAfter = (
  database: Database,
  projectNumber: number,
  after: number,
  limit: number,
): Promise<NumberedItem[]> =>
  database.query<NumberedItem>(
    `SELECT line, item FROM call_lines
      WHERE project_number = $1 AND line > $2
        AND line >= (SELECT first_line FROM call_logs WHERE project_number = $1)
      ORDER BY line LIMIT $3`,
    [projectNumber, after, limit],
  );
