import MailComposer from 'nodemailer/lib/mail-composer';
import type { OutgoingMail } from './mailer.ts';
import { messageOf } from './message.ts';

/** The message as SMTP would carry it. */
export const sourceOf = async (mail: OutgoingMail): Promise<string> =>
  (await new MailComposer(messageOf(mail)).compile().build()).toString();
