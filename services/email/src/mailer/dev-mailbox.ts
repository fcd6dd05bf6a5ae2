import type { Mailer } from './mailer.ts';

/** Sends nothing: mails stay in the database and are read on the mailbox pages. */
export const createDevMailbox = (): Mailer => ({
  reachesPeople: false,
  async send(_mail, handOver) {
    await handOver();
    return { status: 'captured', refused: [] };
  },
  async close() {},
});
