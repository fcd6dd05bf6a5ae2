import { projectRoutes } from '@backlot/contract';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import { type MountedRoute, type RouteOptions, route } from '@backlot/http';
import type { ProjectFile } from '../project-file/project-file.ts';

/** All that an owner sets, as one file. */
export const routesForConfig = (file: ProjectFile, shares: FairShares): MountedRoute[] => {
  const options: RouteOptions = {
    isSlow: true,
    inTurn: (caller, work) => shares.run(toRequester(caller.identity), work, caller),
  };
  return [
    route(
      projectRoutes.getConfig,
      async ({ identity }) => {
        const { config, etag } = await file.read(identity);
        return { body: config, headers: { ETag: etag } };
      },
      options,
    ),
    route(
      projectRoutes.setConfig,
      async ({ identity, query, body, header }) => {
        const isDryRun = query.dryRun === '1' || query.dryRun === 'true';
        const plan = await file.set(identity, body, { isDryRun, ifMatch: header('if-match') });
        return { body: plan, headers: { ETag: plan.etag } };
      },
      { ...options, notesItself: true },
    ),
    route(projectRoutes.listConfigApplications, async ({ identity }) => {
      const items = await file.list(identity);
      return { body: { items, hasMore: false, nextCursor: null } };
    }),
  ];
};
