import { recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { projectOfPath } from '../target.ts';

/** A project has at most 100 of them, so that they are one page. */
export const listCollections = ({ collections }: Nouns) =>
  route(recordRoutes.listCollections, async ({ params, identity }) => {
    const items = await collections.list(projectOfPath(identity, params.projectId));
    return { body: { items, hasMore: false, nextCursor: null } };
  });
