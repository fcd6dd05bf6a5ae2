import type { SendMailOptions } from 'nodemailer';
import { messageIdOf, type OutgoingMail } from './mailer.ts';

/** The mail in nodemailer's form: it encodes every header, and nothing is read from files or addresses. */
export const messageOf = (mail: OutgoingMail): SendMailOptions => ({
  messageId: messageIdOf(mail),
  date: mail.createdAt,
  from: mail.from,
  to: mail.to.map((address) => ({ name: '', address })),
  subject: mail.subject,
  html: mail.html,
  ...(mail.text === null ? {} : { text: mail.text }),
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});
