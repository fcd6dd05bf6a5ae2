import { aiRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Prompts } from '../prompts.ts';

export const setPrompt = (prompts: Prompts) =>
  route(aiRoutes.setPrompt, async ({ params, body, identity }) => ({
    body: await prompts.set(identity.project.number, params.name, body.system),
  }));

/** A project has at most 100 of them, so that they are one page. */
export const listPrompts = (prompts: Prompts) =>
  route(aiRoutes.listPrompts, async ({ identity }) => {
    const items = await prompts.list(identity.project.number);
    return { body: { items, hasMore: false, nextCursor: null } };
  });

export const deletePrompt = (prompts: Prompts) =>
  route(aiRoutes.deletePrompt, async ({ params, identity }) => {
    await prompts.delete(identity.project.number, params.name);
    return { body: { ok: true as const } };
  });
