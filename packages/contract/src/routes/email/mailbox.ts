import { z } from 'zod';
import { callers, defineRoute, indifferent } from '../../define-route.ts';
import { idInPath, ok } from '../../schemas.ts';

const base = { service: 'email' } as const;

/** The gateway serves `/api/runtime/<project>/mailbox` also here, with the project behind it. */
export const mailboxBase = '/mailbox/';

export const mailboxCookie = 'backlot_mailbox';

const mailboxPage = {
  ...base,
  ...indifferent,
  plane: 'runtime',
  method: 'GET',
  callers,
  limit: 'read',
  answers: 'html',
  cookie: mailboxCookie,
  servesPlatformProject: true,
  response: z.string(),
  status: 200,
} as const;

const oneMail = z.object({ mailId: idInPath });

export const showMailbox = defineRoute({
  ...mailboxPage,
  operationId: 'showMailbox',
  path: '/mailbox',
  summary: 'The dev mailbox, a page: for the owner, the operator, or with a one-time key',
  query: z.object({
    key: z.string().max(200).optional().describe('The one-time key that `dev` prints'),
    cursor: z.string().max(2048).optional(),
  }),
  errors: ['invalid_query', 'invalid_cursor', 'unauthenticated', 'not_found'],
});

export const openMailbox = defineRoute({
  ...base,
  plane: 'runtime',
  operationId: 'openMailbox',
  memberRole: 'owner',
  method: 'POST',
  path: '/mailbox/session',
  summary:
    'Let this browser read the dev mailbox until eight hours after it last did, a week at most',
  callers: ['owner', 'operator'],
  limit: 'write',
  servesPlatformProject: true,
  response: ok,
  status: 200,
  errors: ['not_found'],
});

const mailPage = {
  ...mailboxPage,
  params: oneMail,
  errors: ['unauthenticated', 'not_found'],
} as const;

export const showMail = defineRoute({
  ...mailPage,
  operationId: 'showMail',
  path: '/mailbox/:mailId',
  summary: 'One mail of the dev mailbox, a page',
});

export const showMailContent = defineRoute({
  ...mailPage,
  operationId: 'showMailContent',
  path: '/mailbox/:mailId/html',
  summary: 'What the mail says, for a frame in which nothing of it can act',
});

export const showMailSource = defineRoute({
  ...mailPage,
  operationId: 'showMailSource',
  path: '/mailbox/:mailId/source',
  summary: 'The mail as SMTP would carry it, a page',
});

export const showMailFile = defineRoute({
  ...mailboxPage,
  operationId: 'showMailFile',
  path: '/mailbox/:mailId/files/:fileId',
  summary: 'A file that goes along with the mail, to be saved',
  params: oneMail.extend({ fileId: idInPath }),
  answers: 'file',
  response: z.unknown(),
  errors: ['unauthenticated', 'not_found', 'overloaded', 'unavailable'],
});
