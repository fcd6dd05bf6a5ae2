import { z } from 'zod';
import { defineRoute } from '../define-route.ts';
import { idInPath, ok, timestamp, uuid } from '../schemas.ts';
import { origin } from './projects/project-settings.ts';

/** docs/owners.md, "Verified origins". */
export const originProofPath = '/.well-known/backlot-verification';
export const originProofRecord = '_backlot';
export const maxOrigins = 20;

const provenOrigin = z
  .object({
    id: uuid,
    origin: z.string(),
    verifiedAt: timestamp.nullable().describe('Null until the origin is proven to be the owner’s'),
    checkedAt: timestamp.nullable(),
    createdAt: timestamp,
    file: z.object({
      url: z.string(),
      content: z.string().describe('The file holds this and nothing else'),
    }),
    dns: z
      .object({ name: z.string(), value: z.string() })
      .nullable()
      .describe('Instead of the file: a TXT record'),
  })
  .meta({ id: 'Origin' });
export type ProvenOrigin = z.infer<typeof provenOrigin>;

const base = { service: 'projects', plane: 'platform', callers: ['owner', 'operator'] } as const;
const oneProject = z.object({ projectId: idInPath });
const oneOrigin = z.object({ projectId: idInPath, originId: idInPath });
const path = '/projects/:projectId/origins';

export const addOrigin = defineRoute({
  ...base,
  operationId: 'addOrigin',
  method: 'POST',
  path,
  summary: 'Name an origin of the app, and learn how to prove that it is yours',
  limit: 'write',
  params: oneProject,
  body: z.strictObject({ origin }),
  response: provenOrigin,
  status: 201,
  errors: ['invalid_body', 'not_found', 'conflict', 'origin_limit'],
});

export const listOrigins = defineRoute({
  ...base,
  operationId: 'listOrigins',
  method: 'GET',
  path,
  summary: 'Origins of the app, proven or not; all of them, oldest first',
  limit: 'read',
  params: oneProject,
  response: z.object({
    items: z.array(provenOrigin),
    hasMore: z.literal(false),
    nextCursor: z.null(),
  }),
  status: 200,
  errors: ['not_found'],
});

export const verifyOrigin = defineRoute({
  ...base,
  operationId: 'verifyOrigin',
  operatorScope: 'support',
  method: 'POST',
  path: `${path}/:originId/verify`,
  summary: 'Look for the proof now: the file at the origin, or the TXT record',
  limit: 'write',
  params: oneOrigin,
  response: provenOrigin,
  status: 200,
  errors: ['not_found', 'origin_unproven', 'too_many_attempts', 'overloaded'],
});

export const removeOrigin = defineRoute({
  ...base,
  operationId: 'removeOrigin',
  method: 'DELETE',
  path: `${path}/:originId`,
  summary: 'Forget an origin, proven or not',
  limit: 'write',
  params: oneOrigin,
  response: ok,
  status: 200,
  errors: ['not_found'],
});
