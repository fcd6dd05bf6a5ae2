import type {
  KeySnapshot,
  ProjectDirectory,
  ProjectSettings,
  ProjectSnapshot,
} from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { ProjectsConfig } from '../config.ts';
import { effectiveLimits, type LimitLayer } from './limits.ts';
import { isProjectId } from './project-id.ts';

const sha256Bytes = 32;

const json = <T>(text: string | null | undefined): T => JSON.parse(text ?? '{}') as T;

/** Asked by the gateway on a cache miss: one prepared statement, one round trip. */
export const createDirectory = (database: Database, config: ProjectsConfig): ProjectDirectory => ({
  async findProject(id: string): Promise<ProjectSnapshot | null> {
    if (!isProjectId(id)) return null;
    const [row] = await database.acrossProjects(() =>
      database.read(
        'find-project',
        `SELECT number, name, owner_id, CASE WHEN deleted_at IS NULL THEN status ELSE 'deleted' END,
              settings, operator_limits, owner_limits, paused_by,
              (SELECT string_agg(origin, ' ') FROM origins
                WHERE project_number = projects.number AND verified_at IS NOT NULL)
         FROM projects WHERE id = $1`,
        [id],
      ),
    );
    if (!row) return null;
    const [
      number,
      name,
      ownerId = null,
      status,
      settings,
      operatorLimits,
      ownerLimits,
      pausedBy,
      verified,
    ] = row;
    return {
      id,
      number: Number(number),
      name: name ?? '',
      ownerId,
      status: status as ProjectSnapshot['status'],
      ...(status === 'paused' && { pausedBy: pausedBy === 'operator' ? 'operator' : 'owner' }),
      settings: json<ProjectSettings>(settings),
      ...(verified && { verifiedOrigins: verified.split(' ') }),
      limits: effectiveLimits(
        config.defaultLimits,
        json<LimitLayer>(operatorLimits),
        json<LimitLayer>(ownerLimits),
      ),
    };
  },

  async findKey(keyHash: string): Promise<KeySnapshot | null> {
    const hash = Buffer.from(keyHash, 'base64url');
    if (hash.length !== sha256Bytes || hash.toString('base64url') !== keyHash) return null;
    const [row] = await database.acrossProjects(() =>
      database.read('find-key', 'SELECT id, project_number FROM keys WHERE hash = $1', [hash]),
    );
    return row?.[0] ? { id: row[0], projectNumber: Number(row[1]) } : null;
  },
});
