import type { Topic } from './events/events.ts';

/** Which events a process sends and hears. RabbitMQ lets nobody do more. */
export interface EventTraffic {
  sends: readonly Topic[];
  hears: readonly Topic[];
}

interface ServiceEntry extends EventTraffic {
  /** Where it listens on a machine of its own unless PORT says otherwise. */
  port: number;
  /** The API description has its routes under it, in this order. */
  title: string;
  /** One sentence below it. */
  summary: string;
}

/** Every service, once. Settings, upstreams, processes, containers, manifests and users derive from this list. */
export const services = {
  auth: {
    port: 8081,
    title: 'Accounts',
    summary: 'Users of a project: sign-up, sign-in, sessions, groups.',
    sends: [
      'mail.requested',
      'notice.requested',
      'owner.verified',
      'session.revoked',
      'app.event',
      'user.changed',
      'user.erased',
      'user.merged',
      'user.verified',
      'finding.seen',
      'platform.acted',
    ],
    hears: ['key.revoked', 'project.erased', 'share.requested'],
  },
  records: {
    port: 8082,
    title: 'Records',
    summary: 'Collections of JSON records, with filters, sorting and access rules.',
    sends: [
      'channel.said',
      'log.watched',
      'log.written',
      'presence.told',
      'app.event',
      'collection.changed',
      'record.settled',
      'records.deleted',
      'finding.seen',
      'platform.acted',
      'share.given',
      'share.requested',
    ],
    hears: [
      'channel.said',
      'log.watched',
      'log.written',
      'presence.told',
      'collection.changed',
      'project.erased',
      'record.paid',
      'share.given',
      'user.changed',
      'user.erased',
      'user.merged',
      'user.verified',
      'webhooks.changed',
    ],
  },
  ai: {
    port: 8083,
    title: 'AI',
    summary: 'Text and JSON by a language model.',
    sends: ['platform.acted', 'usage.recorded'],
    hears: ['project.erased'],
  },
  storage: {
    port: 8084,
    title: 'Files',
    summary: 'Uploads, public and private files, images in other sizes.',
    sends: ['app.event', 'finding.seen', 'usage.recorded'],
    hears: ['project.erased', 'user.erased', 'user.merged'],
  },
  email: {
    port: 8085,
    title: 'E-mail',
    summary: 'Mail to users of a project, delivered with retries.',
    sends: ['app.event', 'finding.seen', 'mail.queued', 'platform.acted', 'usage.recorded'],
    hears: [
      'finding.told',
      'budget.reached',
      'credits.low',
      'mail.queued',
      'mail.requested',
      'member.invited',
      'notice.requested',
      'project.changed',
      'project.erased',
      'records.deleted',
      'user.erased',
      'webhook.stopped',
    ],
  },
  payments: {
    port: 8086,
    title: 'Payments',
    summary: 'Products, hosted checkout, refunds.',
    sends: ['app.event', 'payment.changed', 'platform.acted', 'record.paid'],
    hears: ['project.changed', 'project.erased', 'record.settled', 'user.erased', 'user.merged'],
  },
  projects: {
    port: 8087,
    title: 'Control plane',
    summary: 'Projects, keys, limits and credits, for their owners.',
    sends: [
      'budget.reached',
      'credits.low',
      'key.revoked',
      'project.changed',
      'finding.told',
      'member.invited',
      'operator-token.revoked',
      'platform.acted',
      'project.erased',
      'webhook.stopped',
      'webhooks.changed',
    ],
    hears: [
      'app.event',
      'finding.seen',
      'owner.verified',
      'platform.acted',
      'usage.recorded',
      'user.erased',
      'user.merged',
      'user.verified',
    ],
  },
} as const satisfies Record<string, ServiceEntry>;

export type ServiceName = keyof typeof services;

export const serviceNames = Object.keys(services) as ServiceName[];

/** Of every process that has to do with events. */
export const eventTraffic: Readonly<Record<ServiceName | 'gateway', EventTraffic>> = {
  gateway: {
    sends: [],
    hears: [
      'key.revoked',
      'operator-token.revoked',
      'project.changed',
      'project.erased',
      'session.revoked',
      'user.changed',
      'user.verified',
    ],
  },
  ...services,
};

/** The setting that says where a service is reached, for example `BACKLOT_AUTH_ORIGIN`. */
export const originSettingName = <Name extends ServiceName>(name: Name) =>
  `BACKLOT_${name.toUpperCase() as Uppercase<Name>}_ORIGIN` as const;

/**
 * Where a process's own value of a setting stands among those of others, in .env and in the Secret: for
 * example `BACKLOT_AUTH_IDENTITY_KEYS`.
 */
export const ownSettingName = (process: string, setting: string): string =>
  `BACKLOT_${process.toUpperCase()}_${setting.replace(/^BACKLOT_/, '')}`;
