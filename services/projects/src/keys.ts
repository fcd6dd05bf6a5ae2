import { createHash, randomBytes } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { type Page, type PageQuery, pageOf, positionOf } from '@backlot/http';
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import type { ProjectsConfig } from './config.ts';
import type { Projects } from './projects.ts';
import { inScope, type ProjectScope, scopeValues } from './scope.ts';

interface KeyRow {
  id: string;
  name: string;
  created_at: Date;
}

export interface StoredKey {
  id: string;
  name: string;
  createdAt: string;
}

const keyBytes = 32;
const uuid = z.uuid();
const isUuid = (text: string) => uuid.safeParse(text).success;
const presentKey = (row: KeyRow): StoredKey => ({
  id: row.id,
  name: row.name,
  createdAt: row.created_at.toISOString(),
});
const keyNotFound = () => new ApiError('not_found', 'There is no such key.');

export interface KeysDeps {
  database: Database;
  outbox: Outbox;
  projects: Projects;
  config: ProjectsConfig;
  now: () => number;
}

export type Keys = ReturnType<typeof createKeys>;

/** Secret keys: only their SHA-256 is kept, which is enough for 256 random bits. */
export const createKeys = ({ database, outbox, projects, config, now }: KeysDeps) => {
  /** The row stays locked, so that keys of one project are created one after the other. */
  const lockProject = async (scope: ProjectScope): Promise<{ id: string }> => {
    const [row] = await database.query<{ id: string }>(
      `SELECT id FROM projects WHERE ${inScope} AND deleted_at IS NULL FOR NO KEY UPDATE`,
      scopeValues(scope),
    );
    if (!row) throw await projects.missing(scope);
    return row;
  };

  const checkBound = async (projectNumber: number) => {
    const [row] = await database.query<{ count: number }>(
      'SELECT count(*) FROM keys WHERE project_number = $1',
      [projectNumber],
    );
    if ((row?.count ?? 0) < config.maxKeysPerProject) return;
    throw new ApiError(
      'key_limit',
      `A project may have at most ${config.maxKeysPerProject} keys.`,
      {
        hint: 'Revoke one that is no longer used.',
      },
    );
  };

  return {
    /** The key itself is in this answer only. @throws ApiError project_not_found, project_deleted, key_limit */
    create: (scope: ProjectScope, name: string): Promise<StoredKey & { key: string }> =>
      database.transaction(async () => {
        await lockProject(scope);
        await checkBound(scope.projectNumber);
        const key = `bk_${randomBytes(keyBytes).toString('base64url')}`;
        const row = { id: uuidv7(), name, created_at: new Date(now()) };
        await database.query(
          'INSERT INTO keys (id, project_number, name, hash, created_at) VALUES ($1, $2, $3, $4, $5)',
          [
            row.id,
            scope.projectNumber,
            name,
            createHash('sha256').update(key).digest(),
            row.created_at,
          ],
        );
        return { ...presentKey(row), key };
      }),

    /** @throws ApiError project_not_found, project_deleted, invalid_cursor */
    async list(scope: ProjectScope, query: PageQuery): Promise<Page<StoredKey>> {
      const after = positionOf('keys', query.cursor);
      if (after && !isUuid(after.id))
        throw new ApiError('invalid_cursor', '"cursor": not one of this list.');
      await projects.get(scope);
      const rows = await database.query<KeyRow>(
        `SELECT id, name, created_at FROM keys
          WHERE project_number = (SELECT number FROM projects WHERE ${inScope} AND deleted_at IS NULL)
            AND ($4::timestamptz IS NULL OR (created_at, id) < ($4, $5::uuid))
          ORDER BY created_at DESC, id DESC LIMIT $6`,
        [...scopeValues(scope), after?.createdAt, after?.id, query.limit + 1],
      );
      return pageOf('keys', query, rows, presentKey);
    },

    /** Ends the key at once. @throws ApiError project_not_found, project_deleted, not_found */
    revoke: (scope: ProjectScope, keyId: string): Promise<void> =>
      database.transaction(async () => {
        const { id: projectId } = await lockProject(scope);
        if (!isUuid(keyId)) throw keyNotFound();
        const [row] = await database.query<{ hash: Buffer }>(
          'DELETE FROM keys WHERE project_number = $1 AND id = $2 RETURNING hash',
          [scope.projectNumber, keyId],
        );
        if (!row) throw keyNotFound();
        await outbox.append('key.revoked', { projectId, keyHash: row.hash.toString('base64url') });
      }),
  };
};
