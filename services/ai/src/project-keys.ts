import { ApiError } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { Sealer } from '@backlot/sealing';
import {
  type ModelChoice,
  ModelKeyRefused,
  type ModelProvider,
  ModelProviderFailed,
} from './model-provider/model-provider.ts';
import type { Secret, DB as Tables } from './tables.ts';

/** What owners see of a key. */
export interface ProjectKey {
  name: 'openai';
  hint: string;
  model: string | null;
  updatedAt: string;
}

export interface ProjectKeys {
  /**
   * Checks the key with the provider and keeps it sealed.
   * @throws ApiError invalid_body, invalid_secret, conflict where the provider takes none, upstream_failed, timeout
   */
  set(
    projectNumber: number,
    key: { apiKey: string; model?: string | undefined },
  ): Promise<ProjectKey>;
  /** Undefined where it has none. */
  find(projectNumber: number): Promise<ProjectKey | undefined>;
  /** @throws ApiError not_found */
  delete(projectNumber: number): Promise<void>;
  /**
   * The key and model of a project's calls.
   * @throws ApiError conflict where the platform does not offer the model
   */
  findChoice(identity: Identity): Promise<ModelChoice>;
}

const columns = ['hint', 'model', 'updated_at'] as const;
const present = ({
  hint,
  model,
  updated_at,
}: Pick<Secret, (typeof columns)[number]>): ProjectKey => ({
  name: 'openai',
  hint,
  model,
  updatedAt: updated_at.toISOString(),
});

const hintCharacters = 4;
const checkMs = 10_000;
export const sealContext = (projectNumber: number) => `ai/openai/${projectNumber}`;
const notFound = () => new ApiError('not_found', 'This project has no key of its own.');

export interface ProjectKeysDeps {
  database: Database;
  sealer: Sealer;
  provider: ModelProvider;
  /** What owners may choose from; none: whatever the provider has. */
  models: readonly string[];
  now: () => number;
}

export const createProjectKeys = ({
  database,
  sealer,
  provider,
  models,
  now,
}: ProjectKeysDeps): ProjectKeys => {
  const queries = createQueries<Tables>(database);
  const isOffered = (model: string | null | undefined) =>
    model == null || models.length === 0 || models.includes(model);

  const check = async (apiKey: string) => {
    const signal = AbortSignal.timeout(checkMs);
    try {
      await provider.checkKey(apiKey, signal);
    } catch (cause) {
      if (cause instanceof ModelKeyRefused) {
        throw new ApiError('invalid_secret', '"apiKey": the provider does not accept it.', {
          cause,
        });
      }
      if (signal.aborted) throw new ApiError('timeout', 'The provider did not answer.', { cause });
      if (!(cause instanceof ModelProviderFailed)) throw cause;
      throw new ApiError('upstream_failed', 'The provider could not check the key.', { cause });
    }
  };

  const open = (projectNumber: number, sealed: Buffer) =>
    sealer.open(sealed, sealContext(projectNumber));

  return {
    async set(projectNumber, { apiKey, model }) {
      if (!provider.takesChoices) {
        throw new ApiError('conflict', 'The demo model takes no keys.', {
          hint: 'The operator has to connect a provider first.',
        });
      }
      if (!isOffered(model))
        throw new ApiError('invalid_body', '"model": the platform does not offer it.', {
          hint: `There is: ${models.join(', ')}.`,
        });
      await check(apiKey);
      const change = {
        sealed: sealer.seal(apiKey, sealContext(projectNumber)),
        hint: `…${apiKey.slice(-hintCharacters)}`,
        model: model ?? null,
        updated_at: new Date(now()),
      };
      await queries
        .insertInto('secrets')
        .values({ project_number: projectNumber, ...change })
        .onConflict((conflict) => conflict.column('project_number').doUpdateSet(change))
        .execute();
      return present(change);
    },
    async find(projectNumber) {
      const row = await queries
        .selectFrom('secrets')
        .select(columns)
        .where('project_number', '=', projectNumber)
        .executeTakeFirst();
      return row && present(row);
    },
    async delete(projectNumber) {
      const { numDeletedRows } = await queries
        .deleteFrom('secrets')
        .where('project_number', '=', projectNumber)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw notFound();
    },
    async findChoice({ project: { number, settings } }) {
      if (!provider.takesChoices) return {};
      const chosen = typeof settings.aiModel === 'string' ? settings.aiModel : undefined;
      const [row] = await database.read(
        'ai_secret',
        `SELECT encode(sealed, 'base64'), model FROM secrets WHERE project_number = $1`,
        [number],
      );
      const [sealed, model] = row ?? [];
      const wanted = model ?? chosen;
      if (!isOffered(wanted)) {
        const field = model == null ? 'setting "aiModel"' : '"model" of its own key';
        throw new ApiError('conflict', `The ${field} of this project is not offered here.`, {
          hint: 'Its owner has to choose another model.',
        });
      }
      return {
        ...(sealed && { apiKey: open(number, Buffer.from(sealed, 'base64')) }),
        ...(wanted !== undefined && { model: wanted }),
      };
    },
  };
};
