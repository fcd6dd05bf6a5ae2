import { z } from 'zod';
import { defineRoute } from '../define-route.ts';
import { timestamp } from '../schemas.ts';

const state = z
  .enum(['works', 'degraded', 'missing'])
  .describe('missing: some calls, or all, fail; degraded: all are served, less well');

const dependency = z
  .object({
    name: z
      .string()
      .describe('postgresql, redis, rabbitmq, files, model, mailer, secrets, backups, a service'),
    state,
    since: timestamp.describe('When a process first found it so'),
    reason: z.string().optional().describe('Where more is known, in one word'),
    affects: z.string().optional().describe('What fails, or works less well'),
    seenBy: z.array(z.string()).describe('The processes that find it so'),
  })
  .meta({ id: 'Dependency' });

export const getHealth = defineRoute({
  service: 'projects',
  answeredBy: 'gateway',
  plane: 'platform',
  callers: ['operator'],
  operationId: 'getHealth',
  method: 'GET',
  path: '/health',
  summary:
    'What the platform needs: whether it works, since when, and what is affected where it does not',
  limit: 'read',
  response: z.object({
    state: state.describe('The worst of all'),
    dependencies: z.array(dependency).max(100),
  }),
  status: 200,
  errors: [],
});
