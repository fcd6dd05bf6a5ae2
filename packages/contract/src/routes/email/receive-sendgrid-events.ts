import { z } from 'zod';
import { callers, defineRoute, indifferent, MIB } from '../../define-route.ts';
import { ok } from '../../schemas.ts';

const base = { service: 'email' } as const;

/** SendGrid's event webhook: a batch of what became of mails, signed over the body as it was sent. */
export const receiveSendgridEvents = defineRoute({
  ...base,
  plane: 'runtime',
  ...indifferent,
  operationId: 'receiveSendgridEvents',
  method: 'POST',
  path: '/email/sendgrid-events',
  summary: 'For SendGrid alone: bounces and complaints; in the project `platform`',
  callers,
  limit: 'write',
  ignoresCredentials: true,
  servesPlatformProject: true,
  bodyLimitBytes: MIB,
  body: z.array(z.unknown()).max(10_000),
  response: ok,
  status: 200,
  errors: ['invalid_body', 'invalid_signature', 'not_found'],
});
