import { aiRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { projectOfPath } from './project-of-path.ts';

export const getOpenaiSecret = ({ projectKeys }: Nouns) =>
  route(aiRoutes.getOpenaiSecret, async ({ params, identity }) => {
    return { body: await projectKeys.get(projectOfPath(identity, params.projectId)) };
  });
