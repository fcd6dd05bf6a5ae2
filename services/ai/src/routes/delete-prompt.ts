import { aiRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { projectOfPath } from './project-of-path.ts';

export const deletePrompt = ({ prompts }: Nouns) =>
  route(aiRoutes.deletePrompt, async ({ params, identity }) => {
    await prompts.delete(projectOfPath(identity, params.projectId), params.name);
    return { body: { ok: true as const } };
  });
