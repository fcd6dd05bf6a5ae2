import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { serviceNames } from '../../services.ts';

export const masterKeySettings = ['BACKLOT_AUTH_MASTER_KEY', 'BACKLOT_SECRETS_KEYS'] as const;
/** `current` seals, `old` only opens, `lost` is not in the ring: what it sealed does not open. */
export const sealStates = ['current', 'old', 'lost'] as const;

const base = { service: 'projects', plane: 'platform', callers: ['operator'] } as const;

const counts = z.object({
  service: z.enum(serviceNames as [string, ...string[]]),
  old: z.int().describe('Sealed under an older master key: seal them again before it is dropped'),
  lost: z.int().describe('Sealed under a key that the service does not have'),
  keys: z
    .array(
      z.object({
        setting: z.enum(masterKeySettings),
        keyId: z
          .string()
          .nullable()
          .describe('Which key, and nothing else of it, as in a back-up; null: nobody can tell'),
        state: z
          .enum(sealStates)
          .describe('current: it seals. old: it only opens. lost: the service does not have it'),
        sealed: z.int().describe('Secrets of the service that it alone opens'),
      }),
    )
    .describe('The rings of the service, and keys of which it has something sealed'),
});
const missing = z.array(z.string()).describe('Services that did not answer');

export const getSealedSecrets = defineRoute({
  ...base,
  operationId: 'getSealedSecrets',
  method: 'GET',
  path: '/sealed-secrets',
  summary: 'Which master keys are in use, and how many secrets of each service lie under each',
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
