import { runnable } from '@backlot/service';
import type { EmailConfig } from './config.ts';
import { createDevMailbox } from './mailer/dev-mailbox.ts';
import type { Mailer } from './mailer/mailer.ts';
import { createSendgridMailer } from './mailer/sendgrid.ts';
import { createSmtpMailer } from './mailer/smtp.ts';
import { emailService } from './service.ts';

/** For one mail. */
const timeoutMs = 60_000;

const createMailer = ({ mailer, concurrency }: EmailConfig): Mailer => {
  switch (mailer.kind) {
    case 'dev-mailbox':
      return createDevMailbox();
    case 'smtp':
      return createSmtpMailer({ ...mailer, connections: concurrency, timeoutMs });
    case 'sendgrid':
      return createSendgridMailer({ ...mailer, timeoutMs });
  }
};

/** The service with the mailer that its settings name. */
export const email = runnable(emailService, ({ config }) => {
  const mailer = createMailer(config);
  return { mailer, close: async () => mailer.close() };
});
