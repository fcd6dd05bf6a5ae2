import { storageRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';

export const listProjectFiles = ({ files }: Nouns) =>
  route(storageRoutes.listProjectFiles, async ({ query, identity: { project } }) => ({
    body: { ...(await files.all(project, query)), ...(await files.totals(project.number)) },
  }));
