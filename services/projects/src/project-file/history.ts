import type { ConfigApplication } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { kept } from './applications.ts';

interface Row {
  id: string;
  state: ConfigApplication['state'];
  caller: ConfigApplication['by']['caller'];
  caller_id: string | null;
  words: string[];
  reason: string | null;
  started_at: Date;
  ended_at: Date | null;
}

const present = (row: Row): ConfigApplication => ({
  id: row.id,
  state: row.state,
  by: { caller: row.caller, id: row.caller_id },
  changes: row.words,
  reason: row.reason,
  startedAt: row.started_at.toISOString(),
  endedAt: row.ended_at?.toISOString() ?? null,
});

/** Who has applied a file to a project: the last ones, newest first. */
export const createHistory = (database: Database) => async (projectNumber: number) => {
  const rows = await database.query<Row>(
    `SELECT id, state, caller, caller_id, words, reason, started_at, ended_at FROM config_applications
     WHERE project_number = $1 AND state <> 'planning' ORDER BY started_at DESC, id DESC LIMIT ${kept}`,
    [projectNumber],
  );
  return rows.map(present);
};
