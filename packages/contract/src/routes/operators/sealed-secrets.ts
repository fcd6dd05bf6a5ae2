import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { serviceNames } from '../../services.ts';

const base = { service: 'projects', plane: 'platform', callers: ['operator'] } as const;

const counts = z.object({
  service: z.enum(serviceNames as [string, ...string[]]),
  old: z.int().describe('Sealed under an older master key: seal them again before it is dropped'),
  lost: z.int().describe('Sealed under a key that the service does not have'),
});
const missing = z.array(z.string()).describe('Services that did not answer');

export const getSealedSecrets = defineRoute({
  ...base,
  operationId: 'getSealedSecrets',
  method: 'GET',
  path: '/sealed-secrets',
  summary: 'How many secrets of each service lie under an older master key',
  limit: 'read',
  response: z.object({ services: z.array(counts), missing }),
  status: 200,
  errors: [],
});

export const resealSecrets = defineRoute({
  ...base,
  operationId: 'resealSecrets',
  method: 'POST',
  path: '/sealed-secrets/reseal',
  summary:
    'Seal secrets again under the newest master key, for some seconds; call it until none is old',
  limit: 'write',
  response: z.object({
    services: z.array(counts.extend({ resealed: z.int().describe('By this call') })),
    missing,
  }),
  status: 200,
  errors: [],
});
