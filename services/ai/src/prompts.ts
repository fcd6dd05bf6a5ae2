import { ApiError, aiRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';

export interface Prompt {
  name: string;
  system: string;
  updatedAt: string;
}

/** System texts that owners pin under a name. Only the owner's own routes show them. */
export interface Prompts {
  /** The text. @throws ApiError invalid_body where the project has no such prompt */
  textOf(projectNumber: number, name: string): Promise<string>;
  /** @throws ApiError prompt_limit */
  set(projectNumber: number, name: string, system: string): Promise<Prompt>;
  /** By name; all of them. */
  list(projectNumber: number): Promise<Prompt[]>;
  /** @throws ApiError not_found */
  delete(projectNumber: number, name: string): Promise<void>;
}

interface PromptRow {
  name: string;
  system: string;
  updated_at: Date;
}

const present = ({ name, system, updated_at }: PromptRow): Prompt => ({
  name,
  system,
  updatedAt: updated_at.toISOString(),
});

const columns = 'name, system, updated_at';

export const createPrompts = (database: Database, now: () => number): Prompts => ({
  async textOf(projectNumber, name) {
    const [row] = await database.read(
      'ai_prompt',
      'SELECT system FROM prompts WHERE project_number = $1 AND name = $2',
      [projectNumber, name],
    );
    const text = row?.[0];
    if (typeof text === 'string') return text;
    throw new ApiError('invalid_body', '"prompt": this project has no prompt of that name.');
  },
  /** Under a lock, so that the limit is exact. */
  set: (projectNumber, name, system) =>
    database.transaction(async () => {
      await database.query(`SELECT pg_advisory_xact_lock(hashtextextended('prompts', $1))`, [
        projectNumber,
      ]);
      const [row] = await database.query<PromptRow>(
        `INSERT INTO prompts (project_number, ${columns})
         SELECT $1, $2, $3, $4 WHERE
           EXISTS (SELECT FROM prompts WHERE project_number = $1 AND name = $2) OR
           (SELECT count(*) FROM prompts WHERE project_number = $1) < $5
         ON CONFLICT (project_number, name)
           DO UPDATE SET system = excluded.system, updated_at = excluded.updated_at
         RETURNING ${columns}`,
        [projectNumber, name, system, new Date(now()), aiRoutes.maxPrompts],
      );
      if (row) return present(row);
      throw new ApiError(
        'prompt_limit',
        `A project may have at most ${aiRoutes.maxPrompts} prompts.`,
        { hint: 'Delete one that is no longer used.' },
      );
    }),
  async list(projectNumber) {
    const rows = await database.query<PromptRow>(
      `SELECT ${columns} FROM prompts WHERE project_number = $1 ORDER BY name`,
      [projectNumber],
    );
    return rows.map(present);
  },
  async delete(projectNumber, name) {
    const deleted = await database.query(
      'DELETE FROM prompts WHERE project_number = $1 AND name = $2 RETURNING 1',
      [projectNumber, name],
    );
    if (deleted.length === 0) throw new ApiError('not_found', 'There is no such prompt.');
  },
});
