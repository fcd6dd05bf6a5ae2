import type { SendMailOptions } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import { type Attachment, createMessageId, type OutgoingMail } from './mailer.ts';

const toAddress = (address: string) => ({ name: '', address });

/** Text is stored as UTF-8. */
const toNodemailerAttachment = ({ name, type, content }: Attachment) => ({
  filename: name,
  contentType: type === 'text/plain' ? 'text/plain; charset=utf-8' : type,
  content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
});

/** The mail for nodemailer, which encodes every header and may read no files or addresses. */
export const toNodemailerMessage = (mail: OutgoingMail): SendMailOptions => ({
  messageId: createMessageId(mail),
  date: mail.createdAt,
  from: mail.from,
  to: mail.to.map(toAddress),
  ...(mail.cc.length > 0 && { cc: mail.cc.map(toAddress) }),
  // For the envelope: the composer leaves the header out.
  ...(mail.bcc.length > 0 && { bcc: mail.bcc.map(toAddress) }),
  ...(mail.replyTo !== null && { replyTo: toAddress(mail.replyTo) }),
  subject: mail.subject,
  html: mail.html,
  ...(mail.text === null ? {} : { text: mail.text }),
  attachments: mail.attachments.map(toNodemailerAttachment),
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});

/** The message as SMTP would carry it. */
export const messageSource = async (mail: OutgoingMail): Promise<string> =>
  (await new MailComposer(toNodemailerMessage(mail)).compile().build()).toString();
