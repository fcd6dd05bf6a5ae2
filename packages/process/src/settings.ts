import { z } from 'zod';

export const portSetting = z.coerce.number().int().min(0).max(65_535);

/** Settings that processes share. */
export const sharedSettings = {
  AMQP_URL: z.url({ protocol: /^amqps?$/ }),
  BACKLOT_IDENTITY_SECRET: z.string().min(32),
  BACKLOT_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info'),
  BACKLOT_METRICS_PORT: portSetting.optional(),
};

export const redisSetting = z.url({ protocol: /^rediss?$/ });

/** Where another process is reached, for example `http://auth:8081`. */
export const originSetting = z
  .url({ protocol: /^https?$/ })
  .transform((value) => new URL(value))
  .refine(
    (url) => url.pathname === '/' && url.search === '',
    'must be an origin such as http://auth:8081',
  )
  .transform((url) => url.origin);

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads settings; one left empty counts as not given.
 * @throws Error that names each wrong setting
 */
export const readSettings = <T extends z.ZodType>(schema: T, env: Environment): z.output<T> => {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`Wrong settings:\n  ${lines.join('\n  ')}`);
};
