import { originSettingName, type ServiceName, serviceNames } from '@backlot/contract';
import { nearestName } from '@backlot/http';
import { checkIdentityKeys, parseIdentityKeys } from '@backlot/identity';
import { z } from 'zod';
import { knownSettings } from './known-settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export const portSetting = z.coerce.number().int().min(0).max(65_535);

/** BACKLOT_IDENTITY_KEYS of one process. @param receivers the services that it calls */
const identityKeysSetting = (process: string, receivers: readonly ServiceName[]) =>
  z.string().transform((text, context) => {
    try {
      const keys = parseIdentityKeys(text);
      checkIdentityKeys(keys, process, receivers);
      return keys;
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message : String(error));
      return z.NEVER;
    }
  });

/** BACKLOT_LOG_LEVEL. */
export const logLevelSetting = z.enum([
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
  'silent',
]);

/** Settings of every process. @param receivers the services that it calls */
export const processSettings = (process: string, receivers: readonly ServiceName[]) => ({
  AMQP_URL: z.url({ protocol: /^amqps?$/ }),
  BACKLOT_IDENTITY_KEYS: identityKeysSetting(process, receivers),
  BACKLOT_LOG_LEVEL: logLevelSetting.default('info'),
  BACKLOT_METRICS_PORT: portSetting.optional(),
  BACKLOT_TRACES_URL: z.url({ protocol: /^https?$/ }).optional(),
  BACKLOT_TRACES_SHARE: z.coerce.number().min(0).max(1).default(1),
  HOST: z.string().min(1).optional(),
});

/** For openTracing. */
export const readTracing = (settings: {
  BACKLOT_TRACES_URL?: string | undefined;
  BACKLOT_TRACES_SHARE: number;
}) => ({ url: settings.BACKLOT_TRACES_URL, share: settings.BACKLOT_TRACES_SHARE });

export const redisSetting = z.url({ protocol: /^rediss?$/ });

/** An address from which others are derived, without a slash at the end. */
export const baseUrlSetting = z
  .url({ protocol: /^https?$/ })
  .transform((value) => value.replace(/\/+$/, ''));

/** BACKLOT_PUBLIC_URL: where the gateway is reached from outside. */
export const publicUrlSetting = baseUrlSetting.default('http://localhost:8080');

/** BACKLOT_PROJECT_HOSTS: host names of projects, as a wildcard; read as what follows their ids. */
export const projectHostsSetting = z
  .string()
  .regex(/^\*(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/, 'must be such as *.apps.example.com')
  .transform((pattern) => pattern.slice(1))
  .optional();

/** Where another process is reached, for example `http://auth:8081`. */
export const originSetting = z
  .url({ protocol: /^https?$/ })
  .transform((value) => new URL(value))
  .refine(
    (url) => url.pathname === '/' && url.search === '',
    'must be an origin such as http://auth:8081',
  )
  .transform((url) => url.origin);

/** A setting that holds JSON; what the JSON has to be is piped behind it. */
export const jsonSetting = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue('must be JSON');
    return z.NEVER;
  }
});

const prefix = 'BACKLOT_';

/** BACKLOT_ names that nothing reads, wherever it runs. */
const unknown = (given: Environment): string[] =>
  Object.keys(given)
    .filter((name) => name.startsWith(prefix) && !knownSettings.has(name))
    .map((name) => {
      const all = [...knownSettings].map((known) => known.slice(prefix.length));
      const nearest = nearestName(name.slice(prefix.length), all);
      return `${name}: is no setting${nearest === undefined ? '' : `; ${prefix}${nearest} is`}`;
    });

/**
 * Reads settings. One left empty counts as not given, so that compose and Kubernetes can pass on what
 * nobody has set.
 * @throws Error that names each wrong setting, and each BACKLOT_ one that there is not
 */
export const readSettings = <T extends z.ZodType>(schema: T, env: Environment): z.output<T> => {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const result = schema.safeParse(given);
  const slips = unknown(given);
  if (result.success && slips.length === 0) return result.data;
  const issues = result.error?.issues ?? [];
  const lines = [...issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`), ...slips];
  throw new Error(`Wrong settings:\n  ${lines.join('\n  ')}`);
};

/** How a service reads its own settings. */
export interface ConfigReader<Config> {
  /** Names of the settings. */
  names: readonly string[];
  /** @throws Error that names each wrong setting */
  read(env: Environment): Config;
}

export const defineConfig = <Settings extends z.ZodObject, Config>(
  settings: Settings,
  toConfig: (settings: z.output<Settings>) => Config,
): ConfigReader<Config> => ({
  names: Object.keys(settings.shape),
  read: (env) => toConfig(readSettings(settings, env)),
});

/** Where these services are reached. @throws Error that names each setting which is missing or wrong */
export const readOrigins = <Name extends ServiceName>(
  env: Environment,
  names: readonly Name[] = serviceNames as Name[],
): Record<Name, string> => {
  const shape = Object.fromEntries(names.map((name) => [originSettingName(name), originSetting]));
  const origins = readSettings(z.object(shape), env);
  return Object.fromEntries(
    names.map((name) => [name, origins[originSettingName(name)]]),
  ) as Record<Name, string>;
};
