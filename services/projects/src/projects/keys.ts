import { createHash, randomBytes } from 'node:crypto';
import {
  ApiError,
  type EventPayloads,
  isUuid,
  type KeyScope,
  type StoredKey,
} from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import { type Page, type PageQuery, presentPage, readPosition } from '@backlot/http';
import type { Selectable } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { ProjectsConfig } from '../config.ts';
import type { Key as KeyRow, DB as Tables } from '../tables.ts';
import type { Projects } from './projects.ts';
import { inScope, type ProjectScope } from './scope.ts';

export interface NewKey {
  name: string;
  scopes: readonly KeyScope[];
  /** ISO 8601; without it the key has no end. */
  expiresAt?: string | undefined;
}

const keyBytes = 32;
const presentKey = (row: Omit<Selectable<KeyRow>, 'hash' | 'project_number'>): StoredKey => ({
  id: row.id,
  name: row.name,
  // The table's CHECK allows no others.
  scopes: row.scopes as KeyScope[],
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at?.toISOString() ?? null,
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
});
const keyNotFound = () => new ApiError('not_found', 'There is no such key.');

export interface KeysDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  projects: Projects;
  config: ProjectsConfig;
  now: () => number;
}

export type Keys = ReturnType<typeof createKeys>;

/** Secret keys: only their SHA-256 is kept, which is enough for 256 random bits. */
export const createKeys = ({ database, outbox, projects, config, now }: KeysDeps) => {
  const queries = createQueries<Tables>(database);

  const checkEnd = (expiresAt: string | undefined): Date | null => {
    if (expiresAt === undefined) return null;
    const end = new Date(expiresAt);
    if (end.getTime() > now()) return end;
    throw new ApiError('invalid_body', '"expiresAt": must be a time to come.');
  };

  const checkBound = async (projectNumber: number) => {
    const { count } = await queries
      .selectFrom('keys')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('project_number', '=', projectNumber)
      .executeTakeFirstOrThrow();
    if (count < config.maxKeysPerProject) return;
    throw new ApiError(
      'key_limit',
      `A project may have at most ${config.maxKeysPerProject} keys.`,
      {
        hint: 'Revoke one that is no longer used.',
      },
    );
  };

  return {
    /**
     * The key itself is in this answer only.
     * @throws ApiError invalid_body, project_not_found, project_deleted, key_limit
     */
    create: (scope: ProjectScope, wanted: NewKey): Promise<StoredKey & { key: string }> =>
      database.transaction(async () => {
        // Keys of one project are created one after the other.
        await projects.lock(scope);
        await checkBound(scope.projectNumber);
        const key = `bk_${randomBytes(keyBytes).toString('base64url')}`;
        const row = {
          id: uuidv7(),
          name: wanted.name,
          scopes: [...wanted.scopes],
          created_at: new Date(now()),
          expires_at: checkEnd(wanted.expiresAt),
        };
        const hash = createHash('sha256').update(key).digest();
        await queries
          .insertInto('keys')
          .values({ ...row, project_number: scope.projectNumber, hash })
          .execute();
        return { ...presentKey({ ...row, last_used_at: null }), key };
      }),

    /** @throws ApiError project_not_found, project_deleted, invalid_cursor */
    async list(scope: ProjectScope, query: PageQuery): Promise<Page<StoredKey>> {
      const after = readPosition('keys', query.cursor);
      await projects.get(scope);
      const inProject = queries
        .selectFrom('keys')
        .innerJoin('projects', 'projects.number', 'keys.project_number')
        .select(['keys.id', 'keys.name', 'keys.created_at', 'keys.scopes'])
        .select(['keys.expires_at', 'keys.last_used_at'])
        .where(inScope(scope))
        .where('projects.deleted_at', 'is', null);
      const page = after
        ? inProject.where(({ eb, refTuple, tuple }) =>
            eb(refTuple('keys.created_at', 'keys.id'), '<', tuple(after.createdAt, after.id)),
          )
        : inProject;
      const rows = await page
        .orderBy('keys.created_at', 'desc')
        .orderBy('keys.id', 'desc')
        .limit(query.limit + 1)
        .execute();
      return presentPage('keys', query, rows, presentKey);
    },

    /** Ends the key at once. @throws ApiError project_not_found, project_deleted, not_found */
    revoke: (scope: ProjectScope, keyId: string): Promise<void> =>
      database.transaction(async () => {
        const { id: projectId } = await projects.lock(scope);
        if (!isUuid(keyId)) throw keyNotFound();
        const row = await queries
          .deleteFrom('keys')
          .where('project_number', '=', scope.projectNumber)
          .where('id', '=', keyId)
          .returning(['id', 'hash'])
          .executeTakeFirst();
        if (!row) throw keyNotFound();
        await outbox.append('key.revoked', {
          projectId,
          projectNumber: scope.projectNumber,
          keyId: row.id,
          keyHash: row.hash.toString('base64url'),
        });
      }),
  };
};
