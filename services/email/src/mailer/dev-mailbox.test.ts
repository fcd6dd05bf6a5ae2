import { describe } from '@jest/globals';
import { createDevMailbox } from './dev-mailbox.ts';
import { conformsAsMailer } from './mailer.conformance.ts';

describe('the dev mailbox', () => {
  const mailer = createDevMailbox();
  conformsAsMailer(() => ({ mailer, received: async () => 0 }));
});
