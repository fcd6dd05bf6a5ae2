import { resolve } from 'node:path';
import { z } from 'zod';

const schema = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  HOST: z.string().min(1).optional(),
  BACKLOT_DATA_DIR: z.string().min(1).default('.backlot'),
  BACKLOT_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  BACKLOT_OPERATOR_TOKEN: z.string().min(16).optional(),
  BACKLOT_TRUSTED_PROXIES: z.coerce.number().int().min(0).max(10).default(0),
  BACKLOT_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('warn'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
});

export interface PlatformConfig {
  port: number;
  host: string | undefined;
  dataDir: string;
  /** Base of absolute addresses; `http://localhost:<port>` when it is not given. */
  publicUrl: string | undefined;
  operatorToken: string | undefined;
  /** How many X-Forwarded-For hops are trusted. */
  trustedProxies: number;
  logLevel: string;
  /** A PostgreSQL of one's own; without it one is started in the data folder. */
  databaseUrl: string | undefined;
  /** All settings as given; services read their own from it. */
  settings: Readonly<Record<string, string | undefined>>;
  /** How the gateway reaches the services: as function calls or over HTTP. */
  upstreams: 'in-process' | 'http';
}

/** @throws Error naming each wrong setting. */
export const readConfig = (env: NodeJS.ProcessEnv): PlatformConfig => {
  // A setting left empty counts as not given.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const result = schema.safeParse(given);
  if (!result.success) {
    const lines = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`Wrong settings:\n  ${lines.join('\n  ')}`);
  }
  const settings = result.data;
  return {
    port: settings.PORT,
    host: settings.HOST,
    dataDir: resolve(settings.BACKLOT_DATA_DIR),
    publicUrl: settings.BACKLOT_PUBLIC_URL?.replace(/\/+$/, ''),
    operatorToken: settings.BACKLOT_OPERATOR_TOKEN,
    trustedProxies: settings.BACKLOT_TRUSTED_PROXIES,
    logLevel: settings.BACKLOT_LOG_LEVEL,
    databaseUrl: settings.DATABASE_URL,
    settings: given,
    upstreams: 'in-process',
  };
};
