import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { operatorScopes } from '../../rights/operator-scopes.ts';
import { idInPath, listOf, ok, timestamp, uuid } from '../../schemas.ts';

const base = { service: 'projects', plane: 'platform', callers: ['operator'] } as const;

const scope = z.enum(operatorScopes);

const operatorName = z
  .string()
  .max(63, { abort: true })
  .regex(
    /^[a-z0-9][a-z0-9._-]*$/,
    'takes a to z, 0 to 9, ".", "_" and "-", and begins with a letter or digit',
  )
  .refine((name) => name !== 'bootstrap', 'is the name of BACKLOT_OPERATOR_TOKEN')
  .describe('Who, or what, calls by it: what they do is noted under this name');

const storedToken = z
  .object({
    id: uuid,
    name: z.string(),
    scope,
    createdAt: timestamp,
    createdBy: z.string().describe('The operator who made it'),
    expiresAt: timestamp,
    lastUsedAt: timestamp.nullable().describe('To within five minutes'),
  })
  .meta({ id: 'OperatorToken' });

export type StoredOperatorToken = z.infer<typeof storedToken>;

export const getOperator = defineRoute({
  ...base,
  operationId: 'getOperator',
  method: 'GET',
  path: '/operator',
  summary: 'As which operator you call',
  limit: 'read',
  response: z.object({ name: z.string(), scope }),
  status: 200,
  errors: [],
});

export const createOperatorToken = defineRoute({
  ...base,
  operationId: 'createOperatorToken',
  method: 'POST',
  path: '/operator-tokens',
  summary: 'Create a token for an operator; it is shown in this answer only',
  limit: 'write',
  body: z.strictObject({
    name: operatorName,
    scope: scope.describe(
      'read: sees all; support: also helps owners and their users; admin: everything',
    ),
    expiresAt: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('A time to come, within a year; in 90 days unless stated'),
  }),
  response: storedToken.extend({ token: z.string() }),
  status: 201,
  errors: ['invalid_body', 'conflict', 'limit_reached'],
});

export const listOperatorTokens = defineRoute({
  ...base,
  operationId: 'listOperatorTokens',
  method: 'GET',
  path: '/operator-tokens',
  summary: 'The operators’ tokens, at most 100, newest first, without the tokens themselves',
  limit: 'read',
  response: listOf(storedToken),
  status: 200,
  errors: [],
});

export const revokeOperatorToken = defineRoute({
  ...base,
  operationId: 'revokeOperatorToken',
  method: 'DELETE',
  path: '/operator-tokens/:tokenId',
  summary: 'Revoke an operator’s token',
  limit: 'write',
  params: z.object({ tokenId: idInPath }),
  response: ok,
  status: 200,
  errors: ['not_found'],
});
