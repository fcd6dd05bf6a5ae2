import { normalizeEmail } from '@backlot/contract';
import type { Bound } from '@backlot/service';

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/** Account mails in an hour and in a day, whatever the projects; a class of pupils can sign up at once. */
const perRecipient = { hour: 10, day: 30 };
const perNetworkAddress = { hour: 60, day: 300 };
const perOwner = { hour: 300, day: 2000 };

export interface AccountMail {
  to: string;
  /** Undefined in events of older versions. */
  ipHash: string | undefined;
  /** Null for the platform's own users, who own the projects. */
  ownerId: string | null;
  /** A verified user asks for a new password or a code: strangers can't use that up by mails of other projects. */
  isWayInOfVerified: boolean;
}

const both = (name: string, { hour, day }: { hour: number; day: number }): Bound[] => [
  { name, windowMs: hourMs, max: hour },
  { name, windowMs: dayMs, max: day },
];

export const accountMailBounds = (mail: AccountMail): Bound[] => [
  ...(mail.ipHash === undefined
    ? []
    : both(`account mails asked from ${mail.ipHash}`, perNetworkAddress)),
  ...(mail.isWayInOfVerified
    ? []
    : [
        ...both(`account mails to ${normalizeEmail(mail.to)}`, perRecipient),
        ...(mail.ownerId === null ? [] : both(`account mails of owner ${mail.ownerId}`, perOwner)),
      ]),
];

/** Of notices, which use up nothing of what links have. */
export const noticeBounds = (to: string, ownerId: string | null): Bound[] => [
  ...both(`account notices to ${normalizeEmail(to)}`, perRecipient),
  ...(ownerId === null ? [] : both(`account notices of owner ${ownerId}`, perOwner)),
];
