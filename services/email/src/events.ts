import type { BusHandler } from '@backlot/bus';
import { events } from '@backlot/contract';
import type { Mails } from './mails.ts';
import type { OwnMails } from './own-mails.ts';

/** What the service does on events of others; each may come more than once. */
export const createEventHandler =
  ({ mails, ownMails }: { mails: Mails; ownMails: OwnMails }): BusHandler =>
  async ({ id, topic, payload }) => {
    switch (topic) {
      case 'mail.requested':
        return ownMails.requested(id, payload);
      case 'credits.low':
        return ownMails.creditsLow(id, payload);
      case 'user.erased': {
        const { projectNumber, email } = events[topic].parse(payload);
        return mails.eraseAddress(projectNumber, email);
      }
      case 'project.erased':
        return mails.eraseProject(events[topic].parse(payload).projectNumber);
      default:
        throw new Error(`Nobody here knows events of topic ${topic}.`);
    }
  };
