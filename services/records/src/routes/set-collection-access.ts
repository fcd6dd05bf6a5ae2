import { recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { projectOfPath } from '../target.ts';
import type { Nouns } from './index.ts';

export const setCollectionAccess = ({ collections }: Nouns) =>
  route(recordRoutes.setCollectionAccess, async ({ params, body, identity }) => {
    const projectNumber = projectOfPath(identity, params.projectId);
    return { body: await collections.setAccess(projectNumber, params.collection, body.access) };
  });
