import { aiRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { projectOfPath } from './project-of-path.ts';

export const setOpenaiSecret = ({ projectKeys }: Nouns) =>
  route(aiRoutes.setOpenaiSecret, async ({ params, body, identity }) => {
    const projectNumber = projectOfPath(identity, params.projectId);
    return { body: await projectKeys.set(projectNumber, body) };
  });
