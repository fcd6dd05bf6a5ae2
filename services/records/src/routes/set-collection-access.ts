import { recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { projectOfPath } from '../target.ts';

export const setCollectionAccess = ({ collections }: Nouns) =>
  route(recordRoutes.setCollectionAccess, async ({ params, body, identity }) => {
    const projectNumber = projectOfPath(identity, params.projectId);
    return { body: await collections.setAccess(projectNumber, params.collection, body.access) };
  });
