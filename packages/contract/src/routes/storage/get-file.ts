import { z } from 'zod';
import { callers, defineRoute, indifferent } from '../../define-route.ts';
import { idInPath, text } from '../../schemas.ts';

const side = z.coerce.number<string>().int().min(1).max(4096).optional();

const base = { service: 'storage', plane: 'runtime' } as const;

export const getFile = defineRoute({
  ...base,
  ...indifferent,
  operationId: 'getFile',
  method: 'GET',
  path: '/storage/files/:id/:name',
  summary: 'The content of a file, or a part of it (Range)',
  callers,
  limit: 'read',
  params: z.object({ id: idInPath, name: z.string() }),
  query: z.object({
    width: side.describe('Of an image: it is made smaller, never larger'),
    height: side,
    fit: z
      .enum(['inside', 'cover', 'contain'])
      .optional()
      .describe('Where both sides are given; inside without it'),
    format: z.enum(['webp', 'avif', 'jpeg', 'png']).optional().describe('Of an image'),
    expires: text(1, 20).optional().describe('Of a signed address'),
    signature: text(1, 100).optional().describe('Of a signed address'),
    signer: text(1, 50).optional().describe('Of a signed address: who has made it'),
  }),
  response: z.unknown(),
  answers: 'file',
  badCredentials: 'reach-service',
  status: 200,
  errors: ['invalid_query', 'not_found', 'range_not_satisfiable', 'storage_quota', 'overloaded'],
});
