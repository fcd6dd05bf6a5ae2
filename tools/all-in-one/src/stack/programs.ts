import { fileURLToPath } from 'node:url';
import { originSettingName, serviceNames } from '@backlot/contract';
import { gatewayName } from '@backlot/identity';
import { nodeOptionsFor } from '@backlot/service';
import type { DatabaseUrls } from '../database/prepare-database.ts';
import { identityKeysSetting } from '../identity-keys.ts';
import type { Secrets } from '../secrets.ts';
import type { ServerUrls } from './servers.ts';

/** One process of the stack. */
export interface Program {
  name: string;
  entry: string;
  env: Record<string, string>;
}

const withNodeOptions = (name: string, given = '') => {
  const own = nodeOptionsFor(name);
  return own.length === 0 ? {} : { NODE_OPTIONS: [...own, given].join(' ').trim() };
};
const entryFile = (name: string) =>
  fileURLToPath(import.meta.resolve(`@backlot/${name}`)).replace(/index\.ts$/, 'main.ts');

/** What the processes of the stack connect to. */
export interface ReachedServers extends Pick<ServerUrls, 'redisUrl' | 'amqpUrl'> {
  databaseUrls: DatabaseUrls;
}

export interface StackPlan {
  services: Program[];
  gateways: Program[];
  /** Of the gateways, first to last. */
  urls: string[];
}

/**
 * Two gateways on `port` and the next one, the services behind them on those that follow.
 * @param settings everybody's own settings, as given
 * @param filesDir where files lie unless settings say otherwise
 */
export const planStack = (
  port: number,
  servers: ReachedServers,
  secrets: Secrets,
  settings: Readonly<Record<string, string | undefined>>,
  filesDir: string,
): StackPlan => {
  const urls = [port, port + 1].map((gatewayPort) => `http://localhost:${gatewayPort}`);
  const shared = {
    AMQP_URL: servers.amqpUrl,
    REDIS_URL: servers.redisUrl,
    BACKLOT_AUTH_MASTER_KEY: secrets.masterKey,
    BACKLOT_SECRETS_KEYS: settings.BACKLOT_SECRETS_KEYS ?? secrets.secretsKey,
    BACKLOT_OPERATOR_TOKEN: settings.BACKLOT_OPERATOR_TOKEN ?? secrets.operatorToken,
    ...(settings.BACKLOT_S3_BUCKET
      ? {}
      : { BACKLOT_STORAGE_DIR: settings.BACKLOT_STORAGE_DIR ?? filesDir }),
    BACKLOT_PUBLIC_URL: settings.BACKLOT_PUBLIC_URL ?? urls[0] ?? '',
  };
  // Processes of one machine can't share a port: the gateways have the first ones.
  const metricsPort = (index: number): Record<string, string> =>
    settings.BACKLOT_METRICS_PORT
      ? { BACKLOT_METRICS_PORT: String(Number(settings.BACKLOT_METRICS_PORT) + index) }
      : {};
  const servicePort = (index: number) => String(port + urls.length + index);
  const origins = Object.fromEntries(
    serviceNames.map((name, index) => [
      originSettingName(name),
      `http://127.0.0.1:${servicePort(index)}`,
    ]),
  );
  return {
    urls,
    services: serviceNames.map((name, index) => ({
      name,
      entry: entryFile(name),
      env: {
        ...shared,
        ...origins,
        ...withNodeOptions(name, settings.NODE_OPTIONS),
        BACKLOT_IDENTITY_KEYS: identityKeysSetting(name, secrets.identitySecret),
        ...(name === 'email' && { BACKLOT_MAILBOX_KEY: settings.BACKLOT_MAILBOX_KEY ?? '' }),
        ...metricsPort(urls.length + index),
        DATABASE_URL: servers.databaseUrls[name],
        PORT: servicePort(index),
      },
    })),
    gateways: urls.map((_, index) => ({
      name: `gateway-${index + 1}`,
      entry: entryFile('gateway'),
      env: {
        ...shared,
        ...origins,
        ...withNodeOptions(gatewayName, settings.NODE_OPTIONS),
        ...metricsPort(index),
        BACKLOT_IDENTITY_KEYS: identityKeysSetting(gatewayName, secrets.identitySecret),
        PORT: String(port + index),
      },
    })),
  };
};
