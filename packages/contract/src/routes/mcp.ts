import { z } from 'zod';
import { defineRoute } from '../define-route.ts';
import { idInPath } from '../schemas.ts';

export const callTools = defineRoute({
  service: 'projects',
  answeredBy: 'gateway',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
  operationId: 'callTools',
  operatorScope: 'read',
  changesNothing: true,
  method: 'POST',
  path: '/projects/:projectId/mcp',
  summary: 'Tools for coding agents, by the Model Context Protocol over Streamable HTTP',
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  body: z
    .looseObject({
      jsonrpc: z.literal('2.0'),
      id: z.union([z.string(), z.number()]).optional(),
      method: z.string(),
      params: z.looseObject({}).optional(),
    })
    .describe('One message of JSON-RPC'),
  unknownBody: 'ignored',
  response: z.looseObject({ jsonrpc: z.literal('2.0') }).describe('One message of JSON-RPC'),
  answers: 'json-or-events',
  status: 200,
  errors: ['invalid_body'],
});
