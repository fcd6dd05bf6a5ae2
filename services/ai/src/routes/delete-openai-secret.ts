import { aiRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { projectOfPath } from './project-of-path.ts';

export const deleteOpenaiSecret = ({ projectKeys }: Nouns) =>
  route(aiRoutes.deleteOpenaiSecret, async ({ params, identity }) => {
    await projectKeys.delete(projectOfPath(identity, params.projectId));
    return { body: { ok: true as const } };
  });
