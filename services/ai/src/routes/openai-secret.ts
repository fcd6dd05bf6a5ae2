import { aiRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { ProjectKeys } from '../project-keys.ts';

export const setOpenaiSecret = (projectKeys: ProjectKeys) =>
  route(aiRoutes.setOpenaiSecret, async ({ body, identity }) => ({
    body: await projectKeys.set(identity.project.number, body),
  }));

const none = { name: 'openai', hint: null, model: null, updatedAt: null } as const;

export const getOpenaiSecret = (projectKeys: ProjectKeys) =>
  route(aiRoutes.getOpenaiSecret, async ({ identity }) => ({
    body: (await projectKeys.find(identity.project.number)) ?? none,
  }));

export const deleteOpenaiSecret = (projectKeys: ProjectKeys) =>
  route(aiRoutes.deleteOpenaiSecret, async ({ identity }) => {
    await projectKeys.delete(identity.project.number);
    return { body: { ok: true as const } };
  });
