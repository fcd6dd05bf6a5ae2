import type { Database } from '@backlot/database';

/** Between two writes; what comes past it is noted the next time. */
const maxNoted = 10_000;
/** A session that was used within this is not written again. */
const writtenAgainMs = 10 * 60_000;

/** When sessions were last used: noted where the gateway asks for one, written together. */
export const createSessionUses = (database: Database, now: () => number) => {
  let used = new Map<string, number>();
  return {
    note(project: number, sessionId: string): void {
      if (used.size < maxNoted || used.has(sessionId)) used.set(sessionId, project);
    },

    /** Of all projects. Rows that somebody else has locked wait for the next time. */
    async write(): Promise<void> {
      if (used.size === 0) return;
      const noted = used;
      used = new Map();
      const at = now();
      await database.query(
        `UPDATE sessions SET last_used_at = $3 FROM (
           SELECT s.project_number, s.id FROM sessions s
             JOIN unnest($1::int8[], $2::uuid[]) AS used (project_number, id) USING (project_number, id)
            WHERE s.last_used_at IS NULL OR s.last_used_at < $4 FOR UPDATE OF s SKIP LOCKED) found
          WHERE sessions.project_number = found.project_number AND sessions.id = found.id`,
        [[...noted.values()], [...noted.keys()], new Date(at), new Date(at - writtenAgainMs)],
      );
      await database.query(
        `UPDATE guests g SET last_seen_at = $3 FROM sessions s
           JOIN unnest($1::int8[], $2::uuid[]) AS used (project_number, id) USING (project_number, id)
          WHERE g.project_number = s.project_number AND g.user_id = s.user_id AND g.last_seen_at < $4`,
        [[...noted.values()], [...noted.keys()], new Date(at), new Date(at - writtenAgainMs)],
      );
    },
  };
};
