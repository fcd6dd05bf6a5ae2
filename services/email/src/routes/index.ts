import type { MountedRoute } from '@backlot/http';
import type { Bounces } from '../bounces/bounces.ts';
import type { SignedEvents } from '../bounces/sendgrid-events.ts';
import type { SendingStates } from '../bounces/sending-state.ts';
import { getSendingState, listEmails, resumeEmails } from './emails.ts';
import { mailTemplateRoutes, type TemplateRoutesDeps } from './mail-templates.ts';
import { type MailboxRoutesDeps, mailboxRoutes } from './mailbox.ts';
import { receiveSendgridEvents } from './receive-sendgrid-events.ts';
import { type SendEmailDeps, sendEmail } from './send-email.ts';

export interface RouteDeps extends SendEmailDeps, MailboxRoutesDeps, TemplateRoutesDeps {
  bounces: Bounces;
  sendingStates: SendingStates;
  /** Undefined where mails are not sent through SendGrid. */
  checkSendgridSignature: ((signed: SignedEvents) => void) | undefined;
}

export const createRoutes = (deps: RouteDeps): MountedRoute[] => [
  sendEmail(deps),
  listEmails(deps.mails),
  getSendingState(deps.sendingStates),
  resumeEmails(deps.bounces),
  receiveSendgridEvents(deps.bounces, deps.checkSendgridSignature),
  ...mailTemplateRoutes(deps),
  ...mailboxRoutes(deps),
];
