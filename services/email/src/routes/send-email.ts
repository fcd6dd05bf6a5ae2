import { ApiError, emailRoutes, showProjectName } from '@backlot/contract';
import { hintHeader, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { coveredQuantity, notCovered, usageEvent } from '@backlot/service';
import type { Attachments } from '../attachments/attachments.ts';
import { type Composer, ownWordsRefused } from '../mail-templates/compose.ts';
import { type AskedMails, hashAddress } from '../mails/asked-mails.ts';
import type { NewMail, Refusal } from '../mails/mail.ts';
import type { Mails } from '../mails/mails.ts';
import type { OwnerMails } from '../mails/owner-mails.ts';
import { type Recipients, uniqueAddresses } from '../mails/recipients.ts';
import type { VisitorMails } from '../mails/visitor-mails.ts';

export interface SendEmailDeps {
  mails: Mails;
  recipients: Recipients;
  visitorMails: VisitorMails;
  ownerMails: OwnerMails;
  attachments: Attachments;
  composer: Composer;
  askedMails: AskedMails;
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
  worded: ownWordsRefused,
  too_many_waiting: () =>
    new ApiError('overloaded', 'Too many mails of this project wait to be delivered.', {
      retryAfterSeconds,
    }),
};

const askedTooMany = () =>
  new ApiError(
    'sending_stopped',
    'Too many mails that were asked for from your network could not be delivered. Try again tomorrow.',
  );

const ownerRemedy =
  'follow the link in the mail that came at sign-up, or reset the password by mail';

const notAllowed = (isOwnerVerified: boolean, isPreview = false) =>
  new ApiError(
    'recipient_not_allowed',
    'This project may not send to one or more of these addresses.',
    {
      hint: isPreview
        ? 'A preview sends to its owner alone, at their verified address.'
        : isOwnerVerified
          ? "It sends to its users who have verified their address, its owner, and the addresses on the owner's emailAllowList."
          : `It sends to its users who have verified their address, until its owner has verified theirs: ${ownerRemedy}.`,
    },
  );

/** The same whoever the addresses are. */
const knownOnlyHint =
  'Each address gets a mail of its own, and only those whom the project knows: users and the owner with a verified address, and its list. Nobody is told who that is; the owner sees what was not sent.';

/** Visitors and users, who may not learn who has an account. */
const isStranger = ({ caller }: Identity) => caller === 'anonymous' || caller === 'user';

const describeRefusal = (addresses: readonly string[], isOwnerVerified: boolean) => {
  const remedy = isOwnerVerified ? '' : ` Verify your e-mail address: ${ownerRemedy}.`;
  return `Not sent: this project may not send to ${addresses.join(', ')}.${remedy}`;
};

/** Each address once, where it stands first. */
const sortAddresses = (to: Addresses, cc: Addresses = [], bcc: Addresses = []) => {
  const direct = uniqueAddresses(to);
  const recipients = uniqueAddresses([to, cc].flat());
  const addresses = uniqueAddresses([to, cc, bcc].flat());
  return {
    addresses,
    shown: {
      recipients,
      cc: recipients.slice(direct.length),
      bcc: addresses.slice(recipients.length),
    },
  };
};
type Addresses = string | string[];

export const sendEmail = (deps: SendEmailDeps) =>
  route(
    emailRoutes.sendEmail,
    async ({ identity, body }) => {
      const { mails, recipients, visitorMails, ownerMails, composer, askedMails } = deps;
      const { fromAddress, now } = deps;
      const { project } = identity;
      const { cc, bcc, replyTo } = body;
      const { to, sender, ...words } = await composer.compose(identity, body);
      const askedFrom = sender === 'asked' ? hashAddress(identity.ip) : undefined;
      if (!(await askedMails.mayAsk(askedFrom))) throw askedTooMany();
      const owner = to === 'owner' ? await recipients.findOwner(project) : undefined;
      const asked = to === 'owner' ? (owner ?? 'owner') : to;
      const { addresses, shown } = sortAddresses(asked, cc, bcc);
      const { price } = emailRoutes.sendEmail;
      if (addresses.length > coveredQuantity(identity, price))
        throw notCovered(
          identity,
          `The credits left do not cover a mail to ${addresses.length} recipients.`,
          now(),
        );
      const files = await deps.attachments.describe(identity, body.attachments ?? []);
      if (to === 'owner') await ownerMails.count(identity);
      const takeBack = await visitorMails.count(identity, addresses.length);
      const mail = {
        projectNumber: project.number,
        projectId: project.id,
        ...shown,
        replyTo,
        from: { name: showProjectName(project), address: fromAddress },
        sender,
        askedFrom,
        ...words,
        files,
      };
      const ok = { body: { ok: true as const } };
      const store = async (stored: readonly [NewMail, ...NewMail[]], charged: number) => {
        const usage = charged > 0 ? usageEvent(identity, price, charged, now()) : undefined;
        const refusal = await mails.accept(stored, usage ? [usage] : []);
        if (refusal !== undefined) {
          await takeBack();
          throw refusalErrors[refusal]();
        }
        return usage && { usedMillicredits: usage.payload.millicredits };
      };

      if (to === 'owner') {
        if (owner === undefined && identity.caller !== 'anonymous') throw notAllowed(false);
        const refusal = owner === undefined ? describeRefusal(addresses, false) : undefined;
        const charged = owner === undefined ? 0 : 1;
        return {
          transact: async () => ({ ...ok, ...(await store([{ ...mail, refusal }], charged)) }),
        };
      }
      const { refused, knownOnly, isOwnerVerified } = await recipients.findRefused(
        project,
        addresses,
      );
      if (knownOnly && isStranger(identity)) {
        // Were they one mail, who is among them would see whether it comes; and what is not sent costs the same.
        const toEach = (address: string): NewMail => ({
          ...mail,
          recipients: [address],
          cc: [],
          bcc: [],
          refusal: refused.includes(address)
            ? describeRefusal([address], isOwnerVerified)
            : undefined,
        });
        const [first = mail, ...others] = addresses.map(toEach);
        const headers = { [hintHeader]: knownOnlyHint };
        return {
          transact: async () => ({
            ...ok,
            headers,
            ...(await store([first, ...others], addresses.length)),
          }),
        };
      }
      if (refused.length > 0) throw notAllowed(isOwnerVerified, project.isPreview);
      return { transact: async () => ({ ...ok, ...(await store([mail], addresses.length)) }) };
    },
    { isSlow: true },
  );
