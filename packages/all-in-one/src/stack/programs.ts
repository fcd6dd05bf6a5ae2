import { fileURLToPath } from 'node:url';
import type { Secrets } from '../secrets.ts';
import type { ServerUrls } from './servers.ts';

/** One process of the stack. */
export interface Program {
  name: string;
  entry: string;
  env: Record<string, string>;
}

const services = ['auth', 'projects', 'records', 'ai', 'storage', 'email', 'payments'] as const;
const newSpace = '--max-semi-space-size=4';
const bothSpaces = `${newSpace} --max-old-space-size=256`;
/** As in the containers (packages/deployment): bounds the garbage that V8 leaves lying. */
const options: Partial<Record<string, string>> = {
  storage: newSpace,
  ai: bothSpaces,
  email: bothSpaces,
};
const nodeOptionsOf = (name: string, given = '') => {
  const own = options[name];
  return own === undefined ? {} : { NODE_OPTIONS: `${own} ${given}`.trim() };
};
const entryOf = (name: string) =>
  fileURLToPath(import.meta.resolve(`@backlot/${name}`)).replace(/index\.ts$/, 'main.ts');

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
  servers: ServerUrls,
  secrets: Secrets,
  settings: Readonly<Record<string, string | undefined>>,
  filesDir: string,
): StackPlan => {
  const urls = [port, port + 1].map((each) => `http://localhost:${each}`);
  const shared = {
    AMQP_URL: servers.amqpUrl,
    REDIS_URL: servers.redisUrl,
    DATABASE_URL: servers.databaseUrl,
    BACKLOT_IDENTITY_SECRET: secrets.identitySecret,
    BACKLOT_AUTH_MASTER_KEY: secrets.masterKey,
    BACKLOT_SECRETS_KEYS: settings.BACKLOT_SECRETS_KEYS ?? secrets.secretsKey,
    BACKLOT_OPERATOR_TOKEN: settings.BACKLOT_OPERATOR_TOKEN ?? secrets.operatorToken,
    ...(settings.BACKLOT_S3_BUCKET
      ? {}
      : { BACKLOT_STORAGE_DIR: settings.BACKLOT_STORAGE_DIR ?? filesDir }),
    BACKLOT_PUBLIC_URL: settings.BACKLOT_PUBLIC_URL ?? urls[0] ?? '',
  };
  const portOf = (index: number) => String(port + urls.length + index);
  const origins = Object.fromEntries(
    services.map((name, index) => [
      `BACKLOT_${name.toUpperCase()}_ORIGIN`,
      `http://127.0.0.1:${portOf(index)}`,
    ]),
  );
  return {
    urls,
    services: services.map((name, index) => ({
      name,
      entry: entryOf(name),
      env: {
        ...shared,
        ...origins,
        ...nodeOptionsOf(name, settings.NODE_OPTIONS),
        PORT: portOf(index),
      },
    })),
    gateways: urls.map((_, index) => ({
      name: `gateway-${index + 1}`,
      entry: entryOf('gateway'),
      env: { ...shared, ...origins, PORT: String(port + index) },
    })),
  };
};
