import type { MountedRoute } from '@backlot/http';
import type { Bounces } from '../bounces/bounces.ts';
import type { SignedEvents } from '../bounces/sendgrid-events.ts';
import { listEmails, resumeEmails } from './emails.ts';
import { type MailboxRoutesDeps, mailboxRoutes } from './mailbox.ts';
import { receiveSendgridEvents } from './receive-sendgrid-events.ts';
import { type SendEmailDeps, sendEmail } from './send-email.ts';

export interface RouteDeps extends SendEmailDeps, MailboxRoutesDeps {
  bounces: Bounces;
  /** Undefined where mails are not sent through SendGrid. */
  checkSendgridSignature: ((signed: SignedEvents) => void) | undefined;
}

export const createRoutes = (deps: RouteDeps): MountedRoute[] => [
  sendEmail(deps),
  listEmails(deps.mails),
  resumeEmails(deps.bounces),
  receiveSendgridEvents(deps.bounces, deps.checkSendgridSignature),
  ...mailboxRoutes(deps),
];
