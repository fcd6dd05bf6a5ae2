import { aiRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { projectOfPath } from './project-of-path.ts';

/** A project has at most 100 of them, so that they are one page. */
export const listPrompts = ({ prompts }: Nouns) =>
  route(aiRoutes.listPrompts, async ({ params, identity }) => {
    const items = await prompts.list(projectOfPath(identity, params.projectId));
    return { body: { items, hasMore: false, nextCursor: null } };
  });
