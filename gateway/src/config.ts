import {
  originSettingName,
  priceChangesSetting,
  type ServiceName,
  serviceNames,
} from '@backlot/contract';
import { gatewayName, type IdentityKey } from '@backlot/identity';
import {
  type Environment,
  originSetting,
  portSetting,
  processSettings,
  projectHostsSetting,
  publicUrlSetting,
  readOrigins,
  readSettings,
  readTracing,
  redisSetting,
} from '@backlot/service';
import { z } from 'zod';
import { addressSettings, readAddressBounds } from './addresses/address-bounds.ts';
import { hashToken } from './directory/hash-token.ts';
import type { GatewayConfig } from './gateway-deps.ts';

const originSettings = Object.fromEntries(
  serviceNames.map((name) => [originSettingName(name), originSetting]),
) as Record<ReturnType<typeof originSettingName<ServiceName>>, typeof originSetting>;
/** What it does with calls, in a process of its own and in that of `pnpm dev`. */
export const callSettings = z.object({
  BACKLOT_OPERATOR_TOKEN: z
    .string()
    .min(16)
    .max(1024)
    .regex(
      /^(?!bk_)[A-Za-z0-9._~+/-]+=*$/,
      'must be a bearer token (RFC 6750) that does not start with bk_',
    )
    .optional(),
  BACKLOT_TOKEN_ISSUER: z.string().min(1).max(255).default('backlot'),
  BACKLOT_TRUSTED_PROXIES: z.coerce.number().int().min(0).max(10).default(0),
  BACKLOT_ACCESS_LOG: z.stringbool().default(false),
  BACKLOT_PRICES: priceChangesSetting.default({}),
  BACKLOT_PROJECT_HOSTS: projectHostsSetting,
  ...addressSettings.shape,
});

const schema = z.object({
  ...processSettings(gatewayName, serviceNames),
  PORT: portSetting.default(8080),
  REDIS_URL: redisSetting,
  BACKLOT_REDIS_TIMEOUT_MS: z.coerce.number().int().min(1).max(60_000).default(100),
  BACKLOT_PUBLIC_URL: publicUrlSetting,
  BACKLOT_RESERVATION_SECONDS: z.coerce.number().int().min(1).max(3600).default(360),
  ...callSettings.shape,
});

/** Names of the settings that the gateway reads. */
export const gatewaySettings: readonly string[] = Object.keys({
  ...schema.shape,
  ...originSettings,
});

export interface ProcessConfig {
  host: string | undefined;
  port: number;
  /** Serves /metrics on a port of its own; none without it. */
  metricsPort: number | undefined;
  redisUrl: string;
  /** The longest that a call waits for Redis. */
  redisTimeoutMs: number;
  /** How long credits stay reserved for a call of a gateway that was lost. */
  reservationTtlMs: number;
  amqpUrl: string;
  logLevel: string;
  /** Where traces go; nowhere without an address. */
  tracing: { url: string | undefined; share: number };
  /** One or two for each service. */
  identityKeys: readonly IdentityKey[];
  origins: Record<ServiceName, string>;
  gateway: GatewayConfig;
}

export const readCallSettings = (
  settings: z.output<typeof callSettings>,
): Omit<GatewayConfig, 'publicUrl'> => {
  const operatorToken = settings.BACKLOT_OPERATOR_TOKEN;
  return {
    issuer: settings.BACKLOT_TOKEN_ISSUER,
    operatorTokenHash: operatorToken === undefined ? undefined : hashToken(operatorToken),
    trustedProxies: settings.BACKLOT_TRUSTED_PROXIES,
    addressBounds: readAddressBounds(settings),
    accessLog: settings.BACKLOT_ACCESS_LOG,
    priceChanges: settings.BACKLOT_PRICES,
    projectHostSuffix: settings.BACKLOT_PROJECT_HOSTS,
  };
};

/** The only reader of the environment. @throws Error naming each wrong setting */
export const parseConfig = (env: Environment): ProcessConfig => {
  const settings = readSettings(schema.extend(originSettings), env);
  return {
    port: settings.PORT,
    metricsPort: settings.BACKLOT_METRICS_PORT,
    redisUrl: settings.REDIS_URL,
    redisTimeoutMs: settings.BACKLOT_REDIS_TIMEOUT_MS,
    reservationTtlMs: settings.BACKLOT_RESERVATION_SECONDS * 1000,
    amqpUrl: settings.AMQP_URL,
    host: settings.HOST,
    logLevel: settings.BACKLOT_LOG_LEVEL,
    tracing: readTracing(settings),
    identityKeys: settings.BACKLOT_IDENTITY_KEYS,
    origins: readOrigins(env),
    gateway: { ...readCallSettings(settings), publicUrl: settings.BACKLOT_PUBLIC_URL },
  };
};
