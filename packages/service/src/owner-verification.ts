import { z } from 'zod';

/** Settings of a service that treats owners differently until their e-mail address is verified. */
export const ownerVerificationSettings = {
  BACKLOT_OWNER_VERIFICATION: z.enum(['on', 'off']).optional(),
  BACKLOT_MAILER: z.string().default('dev-mailbox'),
};

/** Where nobody has said: on with a real mailer, since nobody else gets the mail with the link. */
export const isOwnerVerificationOn = (values: {
  BACKLOT_OWNER_VERIFICATION?: 'on' | 'off' | undefined;
  BACKLOT_MAILER: string;
}): boolean =>
  values.BACKLOT_OWNER_VERIFICATION === undefined
    ? values.BACKLOT_MAILER !== 'dev-mailbox'
    : values.BACKLOT_OWNER_VERIFICATION === 'on';
