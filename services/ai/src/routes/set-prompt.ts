import { aiRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { projectOfPath } from './project-of-path.ts';

export const setPrompt = ({ prompts }: Nouns) =>
  route(aiRoutes.setPrompt, async ({ params, body, identity }) => {
    const projectNumber = projectOfPath(identity, params.projectId);
    return { body: await prompts.set(projectNumber, params.name, body.system) };
  });
