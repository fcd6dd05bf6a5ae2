import type { MountedRoute } from '@backlot/http';
import type { Mails } from '../mails.ts';
import type { Sending } from '../sending.ts';
import { listEmails } from './list-emails.ts';
import { sendEmail } from './send-email.ts';

export interface Nouns {
  mails: Mails;
  sending: Sending;
}

export const routesOf = ({ mails, sending }: Nouns): MountedRoute[] => [
  sendEmail(sending),
  listEmails(mails),
];
