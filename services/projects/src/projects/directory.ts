import type {
  GivenRole,
  KeyDirectory,
  KeyScope,
  KeySnapshot,
  PowersOfRoles,
  ProjectDirectory,
  ProjectSettings,
  ProjectSnapshot,
} from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Logger } from '@backlot/telemetry';
import type { ProjectsConfig } from '../config.ts';
import { effectiveLimits, type LimitLayer } from './limits.ts';
import { isProjectId } from './project-id.ts';

const sha256Bytes = 32;

const json = <T>(text: string | null | undefined): T => JSON.parse(text ?? '{}') as T;

/**
 * Gateways ask again each minute for a key in use; its last use is written when the one that is known is
 * older than this.
 */
const lastUseStepMs = 5 * 60_000;

export interface DirectoryDeps {
  database: Database;
  config: ProjectsConfig;
  /** Epoch milliseconds. */
  now: () => number;
  log: Pick<Logger, 'warn'>;
}

/** A key is good also where its use can't be noted. */
const noteUse = async (
  { database, now, log }: DirectoryDeps,
  projectNumber: number,
  id: string,
) => {
  const text = 'UPDATE keys SET last_used_at = $3 WHERE project_number = $1 AND id = $2';
  await database
    .inProject(projectNumber, () => database.query(text, [projectNumber, id, new Date(now())]))
    .catch((error: unknown) => log.warn({ err: error }, 'could not note the use of a key'));
};

/** Asked by the gateway on a cache miss: one prepared statement, one round trip. */
export const createDirectory = (deps: DirectoryDeps): ProjectDirectory => ({
  async findProject(id: string): Promise<ProjectSnapshot | null> {
    if (!isProjectId(id)) return null;
    const [row] = await deps.database.acrossProjects(() =>
      deps.database.read(
        'find-project',
        `SELECT number, name, owner_id, CASE WHEN deleted_at IS NULL THEN status ELSE 'deleted' END,
              settings, operator_limits, owner_limits, paused_by,
              (SELECT string_agg(origin, ' ') FROM origins
                WHERE project_number = projects.number AND verified_at IS NOT NULL),
              nullif(roles, '{}'),
              has_free_mail,
              preview_of,
              translate(encode(preview_hash, 'base64'), '+/=', '-_'),
              nullif(jsonb_path_query_array(suspensions, '$[*].capability'), '[]'),
              (SELECT json_object_agg(m.user_id, m.role) FROM project_members m
                WHERE m.project_number = coalesce(
                  (SELECT r.number FROM projects r WHERE r.id = projects.preview_of), projects.number))
         FROM projects WHERE id = $1 AND importing_until IS NULL`,
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
      powers,
      hasFreeMail,
      previewOf,
      previewHash,
      suspensions,
      members,
    ] = row;
    const suspended = suspensions
      ? [...new Set(json<ProjectSnapshot['suspended'] & object>(suspensions))]
      : undefined;
    const isWhole = suspended?.includes('all') === true && status !== 'deleted';
    return {
      id,
      number: Number(number),
      name: name ?? '',
      ownerId,
      status: isWhole ? 'paused' : (status as ProjectSnapshot['status']),
      ...(suspended && { suspended }),
      ...((isWhole || status === 'paused') && {
        pausedBy: isWhole || pausedBy === 'operator' ? 'operator' : 'owner',
      }),
      settings: json<ProjectSettings>(settings),
      ...(verified && { verifiedOrigins: verified.split(' ') }),
      ...(members && { members: json<Record<string, GivenRole>>(members) }),
      ...(powers && { powers: json<PowersOfRoles>(powers) }),
      ...(hasFreeMail === 't' && { hasFreeMail: true }),
      ...(previewOf && previewHash && { preview: { of: previewOf, tokenHash: previewHash } }),
      limits: effectiveLimits(
        deps.config.defaultLimits,
        json<LimitLayer>(operatorLimits),
        json<LimitLayer>(ownerLimits),
      ),
    };
  },

  async findKey(keyHash: string): Promise<KeySnapshot | null> {
    const hash = Buffer.from(keyHash, 'base64url');
    if (hash.length !== sha256Bytes || hash.toString('base64url') !== keyHash) return null;
    const [row] = await deps.database.acrossProjects(() =>
      deps.database.read(
        'find-key',
        `SELECT id, project_number, array_to_string(scopes, ' '),
                (extract(epoch FROM expires_at) * 1000)::int8,
                (extract(epoch FROM last_used_at) * 1000)::int8
           FROM keys WHERE hash = $1`,
        [hash],
      ),
    );
    if (!row?.[0]) return null;
    const [id, number, scopes, expiresAtMs, lastUsedAtMs] = row;
    const projectNumber = Number(number);
    if (deps.now() - Number(lastUsedAtMs ?? 0) >= lastUseStepMs)
      await noteUse(deps, projectNumber, id);
    return {
      id,
      projectNumber,
      scopes: (scopes ?? '').split(' ') as KeyScope[],
      ...(expiresAtMs != null && { expiresAtMs: Number(expiresAtMs) }),
    };
  },
});

/** Asked by services about keys that have handed something out. */
export const createKeyDirectory = ({
  database,
  now,
}: Pick<DirectoryDeps, 'database' | 'now'>): KeyDirectory => ({
  async isLive(projectNumber, keyId) {
    const text = `SELECT id FROM keys
       WHERE project_number = $1 AND id = $2 AND (expires_at IS NULL OR expires_at > $3)`;
    const rows = await database.inProject(projectNumber, () =>
      database.read('live-key', text, [projectNumber, keyId, new Date(now())]),
    );
    return rows.length > 0;
  },
});
