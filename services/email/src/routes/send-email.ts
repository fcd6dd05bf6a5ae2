import { ApiError, emailRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { coveredQuantity, usageEvent } from '@backlot/service';
import type { Refusal } from '../mails/mail.ts';
import type { Mails } from '../mails/mails.ts';
import type { OwnerMails } from '../mails/owner-mails.ts';
import { type Recipients, uniqueAddresses } from '../mails/recipients.ts';
import { showProjectName } from '../mails/shown-name.ts';
import type { VisitorMails } from '../mails/visitor-mails.ts';

export interface SendEmailDeps {
  mails: Mails;
  recipients: Recipients;
  visitorMails: VisitorMails;
  ownerMails: OwnerMails;
  /** All mails come from here. */
  fromAddress: string;
  /** Epoch milliseconds. */
  now: () => number;
}

const retryAfterSeconds = 60;

const refusalErrors: Record<Refusal, () => ApiError> = {
  stopped: () =>
    new ApiError(
      'sending_stopped',
      'This project may not send: too many of its mails bounced or were reported as spam.',
    ),
  too_many_waiting: () =>
    new ApiError('overloaded', 'Too many mails of this project wait to be delivered.', {
      retryAfterSeconds,
    }),
};

const ownerRemedy =
  'follow the link in the mail that came at sign-up, or reset the password by mail';

const notAllowed = (isOwnerVerified: boolean) =>
  new ApiError(
    'recipient_not_allowed',
    'This project may not send to one or more of these addresses.',
    {
      hint: isOwnerVerified
        ? "It sends to its users who have verified their address, its owner, and the addresses on the owner's emailAllowList."
        : `It sends to its users who have verified their address, until its owner has verified theirs: ${ownerRemedy}.`,
    },
  );

export const sendEmail = (deps: SendEmailDeps) =>
  route(
    emailRoutes.sendEmail,
    async ({ identity, body: { to, cc = [], replyTo, subject, html } }) => {
      const { mails, recipients, visitorMails, ownerMails, fromAddress, now } = deps;
      const { project } = identity;
      const owner = to === 'owner' ? await recipients.findOwner(project) : undefined;
      const addresses = to === 'owner' ? [owner ?? 'owner'] : uniqueAddresses([to, cc].flat());
      const direct = to === 'owner' ? addresses : uniqueAddresses(to);
      const { price } = emailRoutes.sendEmail;
      if (addresses.length > coveredQuantity(identity, price))
        throw new ApiError(
          'out_of_credits',
          `The credits left do not cover a mail to ${addresses.length} recipients.`,
        );
      if (to === 'owner') await ownerMails.count(identity);
      const takeBack = await visitorMails.count(identity, addresses.length);
      const mail = {
        projectNumber: project.number,
        projectId: project.id,
        recipients: addresses,
        cc: addresses.slice(direct.length),
        replyTo,
        from: { name: showProjectName(project), address: fromAddress },
        subject,
        html,
      };
      const ok = { body: { ok: true as const } };
      const findRefused = () => {
        if (to !== 'owner') return recipients.findRefused(project, addresses);
        return {
          refused: owner === undefined ? addresses : [],
          isOwnerVerified: owner !== undefined,
        };
      };
      const check = async (refusal: Refusal | undefined) => {
        if (refusal === undefined) return;
        await takeBack();
        throw refusalErrors[refusal]();
      };

      const { refused, isOwnerVerified } = await findRefused();
      if (refused.length > 0 && identity.caller !== 'anonymous') throw notAllowed(isOwnerVerified);
      const transact = async () => {
        if (refused.length > 0) {
          // The same answer as to a mail that is sent: it tells nobody who has an account here.
          const remedy = isOwnerVerified ? '' : ` Verify your e-mail address: ${ownerRemedy}.`;
          const reason = `Not sent: this project may not send to ${refused.join(', ')}.${remedy}`;
          await check(await mails.keepRefused(mail, reason));
          return ok;
        }
        const usage = usageEvent(identity, price, addresses.length, now());
        await check(await mails.accept(mail, usage ? [usage] : []));
        return { ...ok, ...(usage && { usedMillicredits: usage.payload.millicredits }) };
      };
      return { transact };
    },
    { isSlow: true },
  );
