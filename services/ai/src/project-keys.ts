import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { Sealer } from '@backlot/sealing';
import {
  type ModelChoice,
  ModelKeyRefused,
  type ModelProvider,
  ModelProviderFailed,
} from './model-provider/model-provider.ts';

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
  /** @throws ApiError not_found */
  get(projectNumber: number): Promise<ProjectKey>;
  /** @throws ApiError not_found */
  delete(projectNumber: number): Promise<void>;
  /**
   * The key and model of a project's calls.
   * @throws ApiError conflict where the platform does not offer the model
   */
  findChoice(identity: Identity): Promise<ModelChoice>;
}

interface KeyRow {
  hint: string;
  model: string | null;
  updated_at: Date;
}

const columns = 'hint, model, updated_at';
const present = ({ hint, model, updated_at }: KeyRow): ProjectKey => ({
  name: 'openai',
  hint,
  model,
  updatedAt: updated_at.toISOString(),
});

const hintCharacters = 4;
const checkMs = 10_000;
const sealContext = (projectNumber: number) => `ai/openai/${projectNumber}`;
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

  /** A key under an older master key is sealed again, so that the older one can be removed. */
  const open = async (projectNumber: number, sealed: Buffer) => {
    const apiKey = sealer.open(sealed, sealContext(projectNumber));
    if (!sealer.isCurrent(sealed)) {
      await database.query(
        'UPDATE secrets SET sealed = $3 WHERE project_number = $1 AND sealed = $2',
        [projectNumber, sealed, sealer.seal(apiKey, sealContext(projectNumber))],
      );
    }
    return apiKey;
  };

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
      const [row] = await database.query<KeyRow>(
        `INSERT INTO secrets (project_number, sealed, ${columns}) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (project_number) DO UPDATE SET sealed = excluded.sealed, hint = excluded.hint,
           model = excluded.model, updated_at = excluded.updated_at
         RETURNING ${columns}`,
        [
          projectNumber,
          sealer.seal(apiKey, sealContext(projectNumber)),
          `…${apiKey.slice(-hintCharacters)}`,
          model ?? null,
          new Date(now()),
        ],
      );
      if (!row) throw new Error('An upsert has returned no row.');
      return present(row);
    },
    async get(projectNumber) {
      const [row] = await database.query<KeyRow>(
        `SELECT ${columns} FROM secrets WHERE project_number = $1`,
        [projectNumber],
      );
      if (!row) throw notFound();
      return present(row);
    },
    async delete(projectNumber) {
      const deleted = await database.query(
        'DELETE FROM secrets WHERE project_number = $1 RETURNING 1',
        [projectNumber],
      );
      if (deleted.length === 0) throw notFound();
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
        ...(sealed && { apiKey: await open(number, Buffer.from(sealed, 'base64')) }),
        ...(wanted !== undefined && { model: wanted }),
      };
    },
  };
};
