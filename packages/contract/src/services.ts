import type { Topic } from './events.ts';

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
      ...(['mail.requested', 'owner.verified', 'session.revoked'] as const),
      ...(['user.changed', 'user.erased', 'user.verified'] as const),
    ],
    hears: ['key.revoked', 'project.erased', 'share.requested'],
  },
  records: {
    port: 8082,
    title: 'Records',
    summary: 'Collections of JSON records, with filters, sorting and access rules.',
    sends: ['collection.changed', 'record.settled', 'share.given', 'share.requested'],
    hears: [
      ...(['collection.changed', 'project.erased', 'record.paid', 'share.given'] as const),
      ...(['user.changed', 'user.erased', 'user.verified'] as const),
    ],
  },
  ai: {
    port: 8083,
    title: 'AI',
    summary: 'Text and JSON by a language model.',
    sends: ['usage.recorded'],
    hears: ['project.erased'],
  },
  storage: {
    port: 8084,
    title: 'Files',
    summary: 'Uploads, public and private files, images in other sizes.',
    sends: ['usage.recorded'],
    hears: ['project.erased', 'user.erased'],
  },
  email: {
    port: 8085,
    title: 'E-mail',
    summary: 'Mail to users of a project, delivered with retries.',
    sends: ['mail.queued', 'usage.recorded'],
    hears: [
      ...(['budget.reached', 'credits.low', 'mail.queued', 'mail.requested'] as const),
      ...(['project.changed', 'project.erased', 'user.erased'] as const),
    ],
  },
  payments: {
    port: 8086,
    title: 'Payments',
    summary: 'Products, hosted checkout, refunds.',
    sends: ['payment.changed', 'record.paid'],
    hears: ['project.changed', 'project.erased', 'record.settled', 'user.erased'],
  },
  projects: {
    port: 8087,
    title: 'Control plane',
    summary: 'Projects, keys, limits and credits, for their owners.',
    sends: ['budget.reached', 'credits.low', 'key.revoked', 'project.changed', 'project.erased'],
    hears: ['owner.verified', 'usage.recorded', 'user.erased'],
  },
} as const satisfies Record<string, ServiceEntry>;

export type ServiceName = keyof typeof services;

export const serviceNames = Object.keys(services) as ServiceName[];

/** Of every process that has to do with events. */
export const eventTraffic: Readonly<Record<ServiceName | 'gateway', EventTraffic>> = {
  gateway: {
    sends: [],
    hears: [
      ...(['key.revoked', 'project.changed', 'project.erased'] as const),
      ...(['session.revoked', 'user.changed', 'user.verified'] as const),
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
