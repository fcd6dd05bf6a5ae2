import type { EmailConfig } from './config.ts';
import { createDevMailbox } from './mailer/dev-mailbox.ts';
import type { Mailer } from './mailer/mailer.ts';
import { createSendgridMailer } from './mailer/sendgrid.ts';
import { createSmtpMailer } from './mailer/smtp.ts';

export { type EmailConfig, parseConfig } from './config.ts';
export type { Mailer } from './mailer/mailer.ts';
export { createEmailService, type EmailDeps, type EmailService } from './service.ts';

/** For one mail. */
const timeoutMs = 60_000;

export const createMailer = ({ mailer, concurrency }: EmailConfig): Mailer => {
  switch (mailer.kind) {
    case 'dev-mailbox':
      return createDevMailbox();
    case 'smtp':
      return createSmtpMailer({ ...mailer, connections: concurrency, timeoutMs });
    case 'sendgrid':
      return createSendgridMailer({ ...mailer, timeoutMs });
  }
};
