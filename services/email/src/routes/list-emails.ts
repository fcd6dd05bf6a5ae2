import { emailRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { type Mails, presentMail } from '../mails.ts';

export const listEmails = (mails: Mails) =>
  route(emailRoutes.listEmails, async ({ identity, query }) => ({
    body: await mails.page(identity.project.number, query, presentMail),
  }));
