import { emailRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { presentMail } from '../mail.ts';
import type { Mails } from '../mails.ts';

export const listEmails = (mails: Mails) =>
  route(emailRoutes.listEmails, async ({ identity, query }) => ({
    body: await mails.page(identity.project.number, query, presentMail),
  }));
