import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { factorCode } from './factors.ts';

export const renewRecoveryCodes = defineRoute({
  service: 'auth',
  plane: 'runtime',
  servesPlatformProject: true,
  callers: ['user'],
  opensTo: ['unverified'],
  operationId: 'renewRecoveryCodes',
  method: 'POST',
  path: '/auth/factors/recovery-codes',
  summary: 'Ten new recovery codes, shown this once; takes a code, and ends the old ones',
  limit: 'write',
  body: z.object({ code: factorCode }),
  response: z.object({ recoveryCodes: z.array(z.string()) }),
  status: 200,
  errors: [
    'invalid_body',
    'invalid_credentials',
    'conflict',
    'too_many_attempts',
    'secrets_unreadable',
  ],
});
