import { resolve } from 'node:path';
import { callSettings, type GatewayConfig, readCallSettings } from '@backlot/gateway';
import { baseUrlSetting, logLevelSetting, portSetting, readSettings } from '@backlot/service';
import { z } from 'zod';

const schema = z.object({
  PORT: portSetting.default(8080),
  HOST: z.string().min(1).optional(),
  BACKLOT_DATA_DIR: z.string().min(1).default('.backlot'),
  BACKLOT_PUBLIC_URL: baseUrlSetting.optional(),
  BACKLOT_LOG_LEVEL: logLevelSetting.default('warn'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  ...callSettings.shape,
});

/** Names of the settings that the platform in one process reads, besides those of the services. */
export const platformSettings: readonly string[] = Object.keys(schema.shape);

export interface PlatformConfig {
  port: number;
  host: string | undefined;
  dataDir: string;
  /** Base of absolute addresses; `http://localhost:<port>` when it is not given. */
  publicUrl: string | undefined;
  /** One is made up where it is not given. */
  operatorToken: string | undefined;
  logLevel: string;
  /** As a gateway of its own reads them. */
  gateway: Omit<GatewayConfig, 'publicUrl'>;
  /** A PostgreSQL of one's own; without it one is started in the data folder. */
  databaseUrl: string | undefined;
  /** All settings as given; services read their own from it. */
  settings: Readonly<Record<string, string | undefined>>;
  /** How the gateway reaches the services: as function calls or over HTTP. */
  upstreams: 'in-process' | 'http';
}

/** @throws Error naming each wrong setting. */
export const readConfig = (env: NodeJS.ProcessEnv): PlatformConfig => {
  const settings = readSettings(schema, env);
  return {
    port: settings.PORT,
    host: settings.HOST,
    dataDir: resolve(settings.BACKLOT_DATA_DIR),
    publicUrl: settings.BACKLOT_PUBLIC_URL,
    operatorToken: settings.BACKLOT_OPERATOR_TOKEN,
    logLevel: settings.BACKLOT_LOG_LEVEL,
    gateway: readCallSettings(settings),
    databaseUrl: settings.DATABASE_URL,
    settings: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
    upstreams: 'in-process',
  };
};
