import { requestRoutes } from '@backlot/contract';
import { type Database, deleteExpired, workLeft } from '@backlot/database';
import { oldestKept } from './read-calls.ts';

/** Lines that the projects of an owner may have together, and all projects. */
export const mostLines = { owner: 50_000, all: 2_000_000 };
type MostLines = typeof mostLines;

const erasedAtOnce = 2000;
const logsAtOnce = 200;
const checkEveryMs = 60 * 60_000;
/** Gateways hand over what is a minute old at most. */
const onItsWayMs = 10 * 60_000;
const gatewaysKeptMs = 24 * 60 * 60_000;

/** Each half of the one before, down to so few that a thousand projects fit. */
const halves = (most: number): number[] => {
  const levels: number[] = [];
  for (let level = most; level >= 10; level = Math.floor(level / 2)) levels.push(level);
  return levels;
};

/** What an owner may have, so that all fit: those with the most give most. */
const ownerLevel = async (database: Database, most: MostLines): Promise<number> => {
  const [found] = await database.query<{ level: number | null }>(
    `WITH owners AS (
       SELECT sum(last_line - first_line + 1) AS lines FROM call_logs GROUP BY owner_id)
     SELECT max(level) AS level FROM unnest($1::int8[]) AS level
      WHERE (SELECT coalesce(sum(least(lines, level)), 0) FROM owners) <= $2`,
    [halves(most.owner), most.all],
  );
  return found?.level ?? 10;
};

/** Moves the beginning of the logs of owners who have more than that, of the longest ones first. */
const shorten = async (database: Database, ownerLines: number): Promise<void> => {
  await database.query(
    `WITH too_many AS (
       SELECT owner_id FROM call_logs
        GROUP BY owner_id HAVING sum(last_line - first_line + 1) > $1),
     levels AS (
       SELECT owner_id, coalesce((SELECT max(level) FROM unnest($2::int8[]) AS level
                WHERE (SELECT sum(least(last_line - first_line + 1, level)) FROM call_logs
                        WHERE owner_id IS NOT DISTINCT FROM too_many.owner_id) <= $1), 10) AS level
         FROM too_many),
     locked AS (
       SELECT project_number, level FROM call_logs
         JOIN levels ON levels.owner_id IS NOT DISTINCT FROM call_logs.owner_id
        WHERE last_line - first_line + 1 > level ORDER BY project_number FOR NO KEY UPDATE OF call_logs)
     UPDATE call_logs SET first_line = greatest(first_line, last_line - level + 1)
       FROM locked WHERE call_logs.project_number = locked.project_number`,
    [ownerLines, halves(requestRoutes.keptCalls)],
  );
};

/** Once an hour of each log: what is too old. */
const passDays = async (database: Database, now: number): Promise<number> => {
  const rows = await database.query(
    `WITH due AS (
       SELECT project_number FROM call_logs WHERE checked_at <= $1
        ORDER BY project_number LIMIT ${logsAtOnce} FOR NO KEY UPDATE SKIP LOCKED)
     UPDATE call_logs AS log SET checked_at = $2, first_line = coalesce(
       (SELECT min(line) FROM call_lines WHERE project_number = log.project_number
           AND line >= log.first_line AND at >= $3), log.last_line + 1)
       FROM due WHERE log.project_number = due.project_number RETURNING 1`,
    [new Date(now - checkEveryMs), new Date(now), oldestKept(now)],
  );
  return rows.length;
};

/** Some of the lines of each log that lie before its beginning. */
const erase = async (database: Database): Promise<number> => {
  const logs = await database.query<{ project_number: number; up_to: number }>(
    `SELECT project_number, least(first_line - 1, erased_line + ${erasedAtOnce}) AS up_to
       FROM call_logs WHERE first_line > erased_line + 1 LIMIT ${logsAtOnce}`,
  );
  for (const { project_number: of, up_to: upTo } of logs) {
    await database.query(
      `WITH erased AS (DELETE FROM call_lines WHERE project_number = $1 AND line <= $2)
       UPDATE call_logs SET erased_line = greatest(erased_line, $2) WHERE project_number = $1`,
      [of, upTo],
    );
  }
  return logs.length;
};

/** Lines of this user, and those whose path names them. */
const eraseLines = (database: Database, projectNumber: number, userId: string) =>
  database.query(
    `DELETE FROM call_lines
      WHERE project_number = $1 AND (user_id = $2::uuid OR strpos(item->>'path', $2::text) > 0)`,
    [projectNumber, userId],
  );

/** Erases what a user has left, and what is still on its way. */
export const eraseUser = async (
  database: Database,
  projectNumber: number,
  userId: string,
  now: number,
): Promise<void> => {
  await database.query(
    `INSERT INTO call_log_erasures (project_number, user_id, at)
     SELECT number, $2::uuid, $3::timestamptz FROM projects WHERE number = $1
     ON CONFLICT (project_number, user_id) DO UPDATE SET at = $3`,
    [projectNumber, userId, new Date(now)],
  );
  await eraseLines(database, projectNumber, userId);
};

/** Lines of one user are another one's. May be repeated. */
export const mergeUser = async (
  database: Database,
  projectNumber: number,
  from: string,
  to: string,
): Promise<void> => {
  await database.query(
    `UPDATE call_lines SET user_id = $3::uuid, item = item || jsonb_build_object('userId', $3::uuid)
      WHERE project_number = $1 AND user_id = $2`,
    [projectNumber, from, to],
  );
};

const eraseLate = async (database: Database, now: number): Promise<void> => {
  const erased = await database.query<{ project_number: number; user_id: string; at: Date }>(
    'SELECT project_number, user_id, at FROM call_log_erasures ORDER BY at LIMIT 1000',
  );
  for (const { project_number: of, user_id: userId, at } of erased) {
    await eraseLines(database, of, userId);
    if (at.getTime() <= now - onItsWayMs)
      await database.query(
        'DELETE FROM call_log_erasures WHERE project_number = $1 AND user_id = $2 AND at = $3',
        [of, userId, at],
      );
  }
};

/** Holds logs to what they may keep; says whether there is more to erase. */
export const keepBounds = async (
  database: Database,
  now: number,
  most: MostLines = mostLines,
): Promise<typeof workLeft | undefined> => {
  await eraseLate(database, now);
  await shorten(database, await ownerLevel(database, most));
  const passed = await passDays(database, now);
  const erased = await erase(database);
  await deleteExpired(database, [
    {
      table: 'call_log_gateways',
      condition: 'at < $1',
      values: [new Date(now - gatewaysKeptMs)],
    },
  ]);
  return passed === logsAtOnce || erased > 0 ? workLeft : undefined;
};
