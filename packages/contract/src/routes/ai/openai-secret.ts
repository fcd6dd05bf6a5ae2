import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, ok, text, timestamp } from '../../schemas.ts';

const base = { service: 'ai', plane: 'platform', callers: ['owner', 'operator'] } as const;

const oneProject = z.object({ projectId: idInPath });

const openaiSecret = z
  .object({
    name: z.literal('openai'),
    hint: z.string().describe('The last characters of the key'),
    model: z.string().nullable(),
    updatedAt: timestamp,
  })
  .meta({ id: 'OpenaiSecret' });

/** As it is shown where there may be none. */
const keyInUse = openaiSecret
  .extend({
    hint: z
      .string()
      .nullable()
      .describe('The last characters of the key; null: the model is asked with the platform’s'),
    updatedAt: timestamp.nullable(),
  })
  .meta({ id: 'OpenaiKeyInUse' });

const secretPath = '/projects/:projectId/secrets/openai';

export const setOpenaiSecret = defineRoute({
  ...base,
  operationId: 'setOpenaiSecret',
  method: 'PUT',
  path: secretPath,
  summary: 'Let a project use a key of its own for the model, and a model of its choice',
  limit: 'write',
  params: oneProject,
  body: z.strictObject({
    apiKey: z
      .string()
      .regex(/^[\x21-\x7e]{8,512}$/, 'must be 8 to 512 printable ASCII characters')
      .describe('Checked with the provider, then sealed: no answer shows it again'),
    model: text(1, 200).optional().describe('Goes before the setting aiModel'),
  }),
  response: openaiSecret,
  status: 200,
  errors: ['invalid_body', 'invalid_secret', 'conflict', 'upstream_failed', 'timeout'],
});

export const getOpenaiSecret = defineRoute({
  ...base,
  operationId: 'getOpenaiSecret',
  memberRole: 'admin',
  method: 'GET',
  path: secretPath,
  summary: 'Whether a project has a key of its own, and what is known of it, without the key',
  limit: 'read',
  params: oneProject,
  response: keyInUse,
  status: 200,
  errors: [],
});

export const deleteOpenaiSecret = defineRoute({
  ...base,
  operationId: 'deleteOpenaiSecret',
  method: 'DELETE',
  path: secretPath,
  summary: "Forget a project's own key; the platform's is used again",
  limit: 'write',
  params: oneProject,
  response: ok,
  status: 200,
  errors: ['not_found'],
});
