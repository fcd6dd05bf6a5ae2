/**
 * Every service, once. Settings, upstreams, processes, containers and manifests derive from this list.
 * `port` is where it listens on a machine of its own unless PORT says otherwise; the API description
 * has its routes under `title`, in this order.
 */
export const services = {
  auth: { port: 8081, title: 'Accounts' },
  records: { port: 8082, title: 'Records' },
  ai: { port: 8083, title: 'AI' },
  storage: { port: 8084, title: 'Files' },
  email: { port: 8085, title: 'E-mail' },
  payments: { port: 8086, title: 'Payments' },
  projects: { port: 8087, title: 'Control plane' },
} as const;

export type ServiceName = keyof typeof services;

export const serviceNames = Object.keys(services) as ServiceName[];

/** The setting that says where a service is reached, for example `BACKLOT_AUTH_ORIGIN`. */
export const originSettingName = <Name extends ServiceName>(name: Name) =>
  `BACKLOT_${name.toUpperCase() as Uppercase<Name>}_ORIGIN` as const;

/**
 * Where a process's own value of a setting stands among those of others, in .env and in the Secret: for
 * example `BACKLOT_AUTH_IDENTITY_KEYS`.
 */
export const ownSettingName = (process: string, setting: string): string =>
  `BACKLOT_${process.toUpperCase()}_${setting.replace(/^BACKLOT_/, '')}`;
