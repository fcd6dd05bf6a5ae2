import type { ServerWatch } from '@backlot/service';
import { HandoverUnknown, type Mailer, MailRefused } from './mailer.ts';

/** A provider that refuses a mail for good has answered. */
const isAway = (error: unknown) =>
  error instanceof HandoverUnknown || (error instanceof MailRefused && error.isTemporary);

/** The mailer, whose deliveries tell whether its provider is there. */
export const watchMailer = (mailer: Mailer, watch: ServerWatch): Mailer => ({
  get reachesPeople() {
    return mailer.reachesPeople;
  },
  async send(mail, handOver) {
    try {
      const delivery = await mailer.send(mail, handOver);
      watch.succeeded();
      return delivery;
    } catch (error) {
      if (isAway(error)) watch.failed();
      else if (error instanceof MailRefused) watch.succeeded();
      throw error;
    }
  },
  close: () => mailer.close(),
});
