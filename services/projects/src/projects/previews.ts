import { createHash, randomBytes } from 'node:crypto';
import { ApiError, projectRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { NewPreview } from './new-projects.ts';
import type { Projects } from './projects.ts';
import { toScope } from './scope.ts';

const { maxPreviews } = projectRoutes;
const secretBytes = 32;

export interface PreviewsDeps {
  database: Database;
  projects: Projects;
}

export type Previews = ReturnType<typeof createPreviews>;

/** Projects beside another one of the same owner, which apps reach through it with a token. */
export const createPreviews = ({ database, projects }: PreviewsDeps) => {
  const check = async (identity: Identity) => {
    // Those of one project are made one after the other, and none of a project that is being deleted.
    const { id } = await projects.lock(toScope(identity));
    const [row] = await database.query<{ is_preview: boolean; count: number }>(
      `SELECT preview_of IS NOT NULL AS is_preview,
              (SELECT count(*)::int4 FROM projects WHERE preview_of = $1 AND deleted_at IS NULL) AS count
         FROM projects WHERE id = $1`,
      [id],
    );
    if (row?.is_preview)
      throw new ApiError('conflict', 'This project is a preview itself: it has none.');
    if ((row?.count ?? 0) < maxPreviews) return;
    throw new ApiError('project_limit', `A project has at most ${maxPreviews} previews.`, {
      hint: 'Delete one: DELETE …/preview.',
    });
  };

  return {
    /** One to be made, and the secret that its token ends with; only the hash is kept. */
    prepare(identity: Identity): { preview: NewPreview; secret: string } {
      const secret = randomBytes(secretBytes).toString('base64url');
      const tokenHash = createHash('sha256').update(secret).digest();
      const { id: of } = identity.project;
      return { secret, preview: { of, tokenHash, check: () => check(identity) } };
    },

    /**
     * The caller as they stand in a preview of their project.
     * @param wanted its id; not needed where there is only one
     * @throws ApiError project_not_found, project_deleted, not_found, conflict
     */
    async find(identity: Identity, wanted: string | undefined): Promise<Identity> {
      const { id: of, ownerId } = await projects.get(toScope(identity));
      const rows = await database.query<{ id: string; number: number }>(
        `SELECT id, number FROM projects
          WHERE preview_of = $1 AND owner_id = $2 AND deleted_at IS NULL AND importing_until IS NULL
          ORDER BY created_at, id LIMIT ${maxPreviews}`,
        [of, ownerId],
      );
      const [found, ...others] = rows.filter(({ id }) => wanted === undefined || id === wanted);
      if (!found) throw new ApiError('not_found', 'There is no such preview of this project.');
      if (others.length > 0)
        throw new ApiError('conflict', 'This project has several previews: say which "preview".', {
          hint: `They are ${rows.map(({ id }) => id).join(', ')}.`,
        });
      return { ...identity, project: { ...identity.project, ...found } };
    },
  };
};
