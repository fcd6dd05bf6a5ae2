import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, listQuery, ok, timestamp, uuid } from '../../schemas.ts';
import { email } from '../../texts/email-address.ts';

const base = { service: 'email' } as const;

const mail = z
  .object({
    id: uuid,
    to: z.array(z.string()),
    cc: z.array(z.string()).optional(),
    bcc: z.array(z.string()).optional(),
    replyTo: z.string().optional(),
    subject: z.string(),
    attachments: z
      .array(z.object({ id: uuid, name: z.string(), type: z.string(), size: z.int() }))
      .optional()
      .describe('Files of the project that go along'),
    html: z
      .string()
      .describe(
        'Of a mail with a one-time link: empty, or the link hidden from all but the operator',
      ),
    from: z.string(),
    status: z.enum(['queued', 'sent', 'failed', 'captured']),
    error: z.string().optional().describe('Why it failed, or which recipients were refused'),
    createdAt: timestamp,
  })
  .meta({ id: 'Mail' });

export type Mail = z.infer<typeof mail>;

const mailsQuery = listQuery.extend({
  email: email.optional().describe('Of a recipient'),
  status: mail.shape.status.optional(),
  sort: z.enum(['createdAt', '-createdAt']).default('-createdAt'),
});

const oneProject = z.object({ projectId: idInPath });

export const listEmails = defineRoute({
  ...base,
  plane: 'platform',
  operationId: 'listEmails',
  method: 'GET',
  path: '/projects/:projectId/emails',
  summary: 'Mails of the last 30 days, newest first unless `sort` says otherwise',
  callers: ['owner', 'key', 'operator'],
  limit: 'read',
  params: oneProject,
  query: mailsQuery,
  response: listOf(mail),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'not_found'],
});

const sendingStop = z.object({
  since: timestamp,
  reason: z.string().nullable().describe('`11 of 200 mails bounced`'),
});

export const getSendingState = defineRoute({
  ...base,
  plane: 'platform',
  operationId: 'getSendingState',
  method: 'GET',
  path: '/projects/:projectId/emails/sending',
  summary: 'Whether the project may send, why not, and how many mails wait',
  callers: ['owner', 'key', 'operator'],
  limit: 'read',
  params: oneProject,
  response: z.object({
    stopped: sendingStop
      .nullable()
      .describe('For bounces or complaints, until the operator resumes'),
    visitorsStopped: sendingStop
      .nullable()
      .describe('The same, of what visitors send to others alone'),
    waiting: z.int().describe('Mails that are queued'),
  }),
  status: 200,
  errors: ['not_found'],
});

export const resumeEmails = defineRoute({
  ...base,
  plane: 'platform',
  operationId: 'resumeEmails',
  operatorScope: 'support',
  method: 'POST',
  path: '/projects/:projectId/emails/resume',
  summary: 'Let a project send again that was stopped for bounces or complaints',
  callers: ['operator'],
  limit: 'write',
  params: oneProject,
  response: ok,
  status: 200,
  errors: ['not_found'],
});
