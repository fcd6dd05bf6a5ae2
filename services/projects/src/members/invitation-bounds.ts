import type { Bound } from '@backlot/service';

const dayMs = 24 * 60 * 60 * 1000;
const perAccount = 50;
const perAddress = 100;
/** Whoever invites: nobody is mailed at without end. */
const perRecipient = 5;

/** Mails of invitations in a day. */
export const invitationBounds = (asked: { userId: string; ip: string; email: string }): Bound[] =>
  [
    { name: `invitations of ${asked.userId}`, max: perAccount },
    { name: `invitations from ${asked.ip}`, max: perAddress },
    { name: `invitations to ${asked.email}`, max: perRecipient },
  ].map((bound) => ({ ...bound, windowMs: dayMs }));
