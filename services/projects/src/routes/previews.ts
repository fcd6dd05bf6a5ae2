import { projectRoutes } from '@backlot/contract';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import { type MountedRoute, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Archives } from '../archive/archives.ts';
import type { ProjectFile } from '../project-file/project-file.ts';
import type { Deletion } from '../projects/deletion.ts';
import type { Previews } from '../projects/previews.ts';
import { toScope } from '../projects/scope.ts';
import { inTurnOf, readWanted } from './archives.ts';

export interface PreviewRoutesDeps {
  previews: Previews;
  archives: Archives;
  projectFile: ProjectFile;
  deletion: Deletion;
  /** Places for configs that are read or applied. */
  configShares: FairShares;
}

/** A copy of a project that its app reaches with a token: made, taken over, deleted. */
export const routesForPreviews = ({
  previews,
  archives,
  projectFile,
  deletion,
  configShares,
}: PreviewRoutesDeps): MountedRoute[] => {
  /** A preview can not have mail templates that lead to origins verified for its project: those stay. */
  const readConfig = async (identity: Identity, preview: Identity) => {
    const { config, etag } = await projectFile.read(identity);
    const { config: wanted } = await projectFile.read(preview);
    const mailTemplates = { ...config.mailTemplates, ...wanted.mailTemplates };
    return { wanted: { ...wanted, mailTemplates }, etag };
  };

  return [
    route(
      projectRoutes.createPreview,
      async ({ identity, body, signal }) => {
        const { name = `${identity.project.name} (preview)`.slice(-100) } = body;
        const { preview, secret } = previews.prepare(identity);
        const entries = await archives.exportProject(identity, readWanted(body));
        // A member makes one for the owner, whose project it stands beside.
        const owner = { ...identity, userId: identity.project.ownerId };
        const made = await archives.importProject(entries, {
          identity: owner,
          name,
          preview,
          signal,
        });
        return { body: { ...made, token: `pv_${made.project.id}_${secret}` } };
      },
      inTurnOf(archives),
    ),
    route(
      projectRoutes.promotePreview,
      async ({ identity, body, header }) => {
        const preview = await previews.find(identity, body.preview);
        const { wanted, etag } = await readConfig(identity, preview);
        const ifMatch = header('if-match') ?? etag;
        const plan = await projectFile.set(identity, wanted, {
          isDryRun: body.dryRun === true,
          ifMatch,
        });
        return { body: plan, headers: { ETag: plan.etag } };
      },
      {
        isSlow: true,
        notesItself: true,
        inTurn: (caller, work) => configShares.run(toRequester(caller.identity), work, caller),
      },
    ),
    route(projectRoutes.deletePreview, async ({ identity, query }) => {
      const preview = await previews.find(identity, query.preview);
      await deletion.remove(toScope(preview));
      return { body: { ok: true as const } };
    }),
  ];
};
