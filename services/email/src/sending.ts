import { ApiError, type BodyOf, type emailRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Mails } from './mails.ts';
import { distinct, type Recipients } from './recipients.ts';
import { usageOf } from './usage.ts';

export interface SendingDeps {
  mails: Mails;
  recipients: Recipients;
  /** All mails come from here. */
  fromAddress: string;
  /** Epoch milliseconds. */
  now: () => number;
}

export type Sending = ReturnType<typeof createSending>;

const retryAfterSeconds = 60;

export const createSending = ({ mails, recipients, fromAddress, now }: SendingDeps) => ({
  /**
   * Stores the mail and its price. The milli-credits used; undefined where it was free.
   * @throws ApiError recipient_not_allowed, out_of_credits, sending_stopped, overloaded
   */
  async send(
    identity: Identity,
    { to, subject, html }: BodyOf<typeof emailRoutes.sendEmail>,
  ): Promise<number | undefined> {
    const { project } = identity;
    const addresses = distinct(to);
    await recipients.check(project, addresses);
    const usage = usageOf(identity, addresses.length, now());
    const refusal = await mails.accept(
      {
        projectNumber: project.number,
        projectId: project.id,
        recipients: addresses,
        from: { name: project.name, address: fromAddress },
        subject,
        html,
      },
      usage ? [usage.event] : [],
    );
    switch (refusal) {
      case undefined:
        return usage?.millicredits;
      case 'stopped':
        throw new ApiError(
          'sending_stopped',
          'This project may not send: too many of its mails bounced or were complained about.',
        );
      case 'too_many_waiting':
        throw new ApiError('overloaded', 'Too many mails of this project wait to be delivered.', {
          retryAfterSeconds,
        });
    }
  },
});
