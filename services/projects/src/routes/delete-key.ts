import { projectRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Keys } from '../keys.ts';
import { scopeOf } from '../scope.ts';

export const deleteKey = (keys: Keys) =>
  route(projectRoutes.deleteKey, async ({ params, identity }) => {
    await keys.revoke(scopeOf(identity, params.projectId), params.keyId);
    return { body: { ok: true as const } };
  });
