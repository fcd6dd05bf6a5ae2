import type { MountedRoute } from '@backlot/http';
import type { Mails } from '../mails.ts';
import type { Reports } from '../reports.ts';
import type { SignedEvents } from '../sendgrid-signature.ts';
import type { Sending } from '../sending.ts';
import { listEmails } from './list-emails.ts';
import { receiveSendgridEvents } from './receive-sendgrid-events.ts';
import { resumeEmails } from './resume-emails.ts';
import { sendEmail } from './send-email.ts';

export interface Nouns {
  mails: Mails;
  sending: Sending;
  reports: Reports;
  checkSendgridSignature: ((signed: SignedEvents) => void) | undefined;
}

export const routesOf = ({
  mails,
  sending,
  reports,
  checkSendgridSignature,
}: Nouns): MountedRoute[] => [
  sendEmail(sending),
  listEmails(mails),
  resumeEmails(reports),
  receiveSendgridEvents(reports, checkSendgridSignature),
];
