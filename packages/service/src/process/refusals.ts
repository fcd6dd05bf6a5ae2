import type { Logger } from '@backlot/telemetry';

type Server = 'PostgreSQL' | 'Redis' | 'RabbitMQ';

export const refusalText = (server: Server): string =>
  `${server} refuses the user or the password; what needs it fails until they are put right`;

/** A line when a server begins to refuse what a setting says, and one when it takes it again. */
export const reportRefusal =
  (log: Logger, server: Server, setting: string) =>
  (isRefused: boolean): void =>
    isRefused
      ? log.error({ setting }, refusalText(server))
      : log.info({ setting }, `${server} takes the password again`);
