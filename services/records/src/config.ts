import { z } from 'zod';
import type { ReadLimits } from './list-statement.ts';

/** What the service itself needs; the all-in-one builds it too. */
export interface RecordsConfig {
  limits: ReadLimits;
}

/** What a process of its own needs beside that. */
export interface RecordsProcessConfig extends RecordsConfig {
  port: number;
  databaseUrl: string;
  identitySecret: string;
  logLevel: string;
}

const environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(8082),
  DATABASE_URL: z.string().min(1),
  BACKLOT_IDENTITY_SECRET: z.string().min(32),
  BACKLOT_LOG_LEVEL: z.string().default('info'),
  BACKLOT_SCAN_ROWS: z.coerce.number().int().min(1).max(100_000_000).default(100_000),
  BACKLOT_PAGE_BYTES: z.coerce
    .number()
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(32 * 1024 * 1024),
});

/** @throws ZodError that names the settings which are missing or wrong. */
export const parseConfig = (
  env: Readonly<Record<string, string | undefined>>,
): RecordsProcessConfig => {
  const settings = environment.parse(env);
  return {
    port: settings.PORT,
    databaseUrl: settings.DATABASE_URL,
    identitySecret: settings.BACKLOT_IDENTITY_SECRET,
    logLevel: settings.BACKLOT_LOG_LEVEL,
    limits: { scanRows: settings.BACKLOT_SCAN_ROWS, pageBytes: settings.BACKLOT_PAGE_BYTES },
  };
};
