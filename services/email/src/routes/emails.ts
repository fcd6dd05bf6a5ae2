import { emailRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Bounces } from '../bounces/bounces.ts';
import type { SendingStates } from '../bounces/sending-state.ts';
import { hideLinks, presentMail } from '../mails/mail.ts';
import type { Mails } from '../mails/mails.ts';

export const listEmails = (mails: Mails) =>
  route(emailRoutes.listEmails, async ({ identity, query }) => ({
    body: await mails.page(identity.project.number, query, (mail) =>
      presentMail(identity.caller === 'operator' ? mail : hideLinks(mail)),
    ),
  }));

export const getSendingState = (sendingStates: SendingStates) =>
  route(emailRoutes.getSendingState, async ({ identity }) => ({
    body: await sendingStates.read(identity.project.number),
  }));

export const resumeEmails = (bounces: Bounces) =>
  route(emailRoutes.resumeEmails, async ({ identity }) => {
    await bounces.resumeSending(identity.project.number);
    return { body: { ok: true as const } };
  });
