import type { Topic } from './events.ts';
import type { ServiceName } from './services.ts';

export interface EventTraffic {
  sends: readonly Topic[];
  hears: readonly Topic[];
}

/** Which process sends and hears which events. RabbitMQ lets nobody do more. */
export const eventTraffic: Readonly<Record<ServiceName | 'gateway', EventTraffic>> = {
  gateway: {
    sends: [],
    hears: ['key.revoked', 'project.changed', 'project.erased', 'session.revoked'],
  },
  auth: {
    sends: ['mail.requested', 'owner.verified', 'session.revoked', 'user.erased'],
    hears: ['project.erased'],
  },
  records: { sends: ['collection.changed'], hears: ['collection.changed', 'project.erased'] },
  ai: { sends: ['usage.recorded'], hears: ['project.erased'] },
  storage: { sends: ['usage.recorded'], hears: ['project.erased', 'user.erased'] },
  email: {
    sends: ['mail.queued', 'usage.recorded'],
    hears: [
      ...(['credits.low', 'mail.queued', 'mail.requested'] as const),
      ...(['project.changed', 'project.erased', 'user.erased'] as const),
    ],
  },
  payments: {
    sends: ['payment.changed'],
    hears: ['project.changed', 'project.erased', 'user.erased'],
  },
  projects: {
    sends: ['credits.low', 'key.revoked', 'project.changed', 'project.erased'],
    hears: ['owner.verified', 'usage.recorded', 'user.erased'],
  },
};
