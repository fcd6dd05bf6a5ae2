import { ApiError, aiRoutes } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { ConfigStore } from '@backlot/service';
import type { Prompt as PromptRow, DB as Tables } from './tables.ts';

export interface Prompt {
  name: string;
  system: string;
  updatedAt: string;
}

/** System texts that owners pin under a name. Only the owner's own routes show them. */
export interface Prompts {
  /** The text. @throws ApiError invalid_body where the project has no such prompt */
  getText(projectNumber: number, name: string): Promise<string>;
  /** @throws ApiError prompt_limit */
  set(projectNumber: number, name: string, system: string): Promise<Prompt>;
  /** By name; all of them. */
  list(projectNumber: number): Promise<Prompt[]>;
  /** @throws ApiError not_found */
  delete(projectNumber: number, name: string): Promise<void>;
  /** Those that are there. */
  deleteAll(projectNumber: number, names: readonly string[]): Promise<void>;
}

const columns = ['name', 'system', 'updated_at'] as const;

const present = ({
  name,
  system,
  updated_at,
}: Pick<PromptRow, (typeof columns)[number]>): Prompt => ({
  name,
  system,
  updatedAt: updated_at.toISOString(),
});

export const createPrompts = (database: Database, now: () => number): Prompts => {
  const queries = createQueries<Tables>(database);

  /** Calls of one project go one after the other until the transaction ends, so that the limit is exact. */
  const checkLimit = async (projectNumber: number, name: string) => {
    await database.query(`SELECT pg_advisory_xact_lock(hashtextextended('prompts', $1))`, [
      projectNumber,
    ]);
    const { others } = await queries
      .selectFrom('prompts')
      .select(({ fn }) => fn.countAll<number>().as('others'))
      .where('project_number', '=', projectNumber)
      .where('name', '<>', name)
      .executeTakeFirstOrThrow();
    if (others < aiRoutes.maxPrompts) return;
    throw new ApiError(
      'prompt_limit',
      `A project may have at most ${aiRoutes.maxPrompts} prompts.`,
      { hint: 'Delete one that is no longer used.' },
    );
  };

  return {
    async getText(projectNumber, name) {
      const [row] = await database.read(
        'ai_prompt',
        'SELECT system FROM prompts WHERE project_number = $1 AND name = $2',
        [projectNumber, name],
      );
      const text = row?.[0];
      if (typeof text === 'string') return text;
      throw new ApiError('invalid_body', '"prompt": this project has no prompt of that name.');
    },
    set: (projectNumber, name, system) =>
      database.transaction(async () => {
        await checkLimit(projectNumber, name);
        const change = { system, updated_at: new Date(now()) };
        const row = await queries
          .insertInto('prompts')
          .values({ project_number: projectNumber, name, ...change })
          .onConflict((conflict) =>
            conflict.columns(['project_number', 'name']).doUpdateSet(change),
          )
          .returning(columns)
          .executeTakeFirstOrThrow();
        return present(row);
      }),
    async list(projectNumber) {
      const rows = await queries
        .selectFrom('prompts')
        .select(columns)
        .where('project_number', '=', projectNumber)
        .orderBy('name')
        .execute();
      return rows.map(present);
    },
    async delete(projectNumber, name) {
      const { numDeletedRows } = await queries
        .deleteFrom('prompts')
        .where('project_number', '=', projectNumber)
        .where('name', '=', name)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw new ApiError('not_found', 'There is no such prompt.');
    },
    async deleteAll(projectNumber, names) {
      await queries
        .deleteFrom('prompts')
        .where('project_number', '=', projectNumber)
        .where('name', 'in', names)
        .execute();
    },
  };
};

/** Prompts as a project's config has them. */
export const createPromptsConfig = (prompts: Prompts): ConfigStore => ({
  async read(projectNumber) {
    const all = await prompts.list(projectNumber);
    return Object.fromEntries(all.map(({ name, system }) => [name, { system }]));
  },
  set: ({ number }, name, entry) => prompts.set(number, name, (entry as { system: string }).system),
  async remove({ number }, names) {
    await prompts.deleteAll(number, names);
    return [];
  },
});
