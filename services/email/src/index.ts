import { runnable } from '@backlot/service';
import type { EmailConfig } from './config.ts';
import type { Mailer } from './mailer/mailer.ts';
import { emailService } from './service.ts';

/** For one mail. */
const timeoutMs = 60_000;

/** Loads no other: each client takes memory. */
const createMailer = async ({ mailer, concurrency }: EmailConfig): Promise<Mailer> => {
  switch (mailer.kind) {
    case 'dev-mailbox': {
      const { createDevMailbox } = await import('./mailer/dev-mailbox.ts');
      return createDevMailbox();
    }
    case 'smtp': {
      const { createSmtpMailer } = await import('./mailer/smtp.ts');
      return createSmtpMailer({ ...mailer, connections: concurrency, timeoutMs });
    }
    case 'sendgrid': {
      const { createSendgridMailer } = await import('./mailer/sendgrid.ts');
      return createSendgridMailer({ ...mailer, timeoutMs });
    }
  }
};

/** The service with the mailer that its settings name. */
export const email = runnable(emailService, async ({ config }) => {
  const mailer = await createMailer(config);
  return { mailer, close: async () => mailer.close() };
});
