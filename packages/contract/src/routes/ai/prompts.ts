import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, ok, text, timestamp } from '../../schemas.ts';
import { maxPromptBytes, tokensAtMost } from './ai-price.ts';

export const maxPrompts = 100;

export const promptPattern = /^[a-z][a-z0-9_-]{0,62}$/;

export const promptName = z.string().regex(promptPattern, 'must match ^[a-z][a-z0-9_-]{0,62}$');

const base = { service: 'ai', plane: 'platform', callers: ['owner', 'operator'] } as const;

const withKeys = { ...base, callers: ['owner', 'key', 'operator'] } as const;

const oneProject = z.object({ projectId: idInPath });

export const prompt = z
  .object({ name: z.string(), system: z.string(), updatedAt: timestamp })
  .meta({ id: 'Prompt' });

const utf8Text = (maxBytes: number) =>
  text(1, maxBytes).refine(
    (value) => tokensAtMost(value) <= maxBytes,
    `must have at most ${maxBytes} bytes in UTF-8`,
  );

export const setPrompt = defineRoute({
  ...withKeys,
  operationId: 'setPrompt',
  method: 'PUT',
  path: '/projects/:projectId/prompts/:name',
  summary: 'Pin a system text that calls name as "prompt" and no visitor can read or replace',
  limit: 'write',
  params: oneProject.extend({ name: promptName }),
  body: z.strictObject({ system: utf8Text(maxPromptBytes) }),
  response: prompt,
  status: 200,
  errors: ['invalid_path', 'invalid_body', 'prompt_limit'],
});

export const listPrompts = defineRoute({
  ...withKeys,
  operationId: 'listPrompts',
  method: 'GET',
  path: '/projects/:projectId/prompts',
  summary: 'All prompts of a project by name; there are at most 100',
  limit: 'read',
  params: oneProject,
  response: listOf(prompt),
  status: 200,
  errors: ['not_found'],
});

export const deletePrompt = defineRoute({
  ...withKeys,
  operationId: 'deletePrompt',
  method: 'DELETE',
  path: '/projects/:projectId/prompts/:name',
  summary: 'Delete a prompt; calls that name it are refused from then on',
  limit: 'write',
  params: oneProject.extend({ name: idInPath }),
  response: ok,
  status: 200,
  errors: ['not_found'],
});
