import type { Mailer } from './mailer.ts';

/** Sends nothing: a mail is kept where it lies, and people read it there. */
export const createDevMailbox = (): Mailer => ({
  reachesPeople: false,
  async send(_mail, handOver) {
    await handOver();
    return { status: 'captured', refused: [] };
  },
  async close() {},
});
