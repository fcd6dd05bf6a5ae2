import { z } from 'zod';
import type { ReadLimits } from './read-limits.ts';

/** What the service itself needs; the all-in-one builds it too. */
export interface RecordsConfig {
  limits: ReadLimits;
}

const environment = z.object({
  BACKLOT_SCAN_ROWS: z.coerce.number().int().min(1).max(100_000_000).default(100_000),
  BACKLOT_PAGE_BYTES: z.coerce
    .number()
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(32 * 1024 * 1024),
});

/** @throws ZodError that names the settings which are missing or wrong. */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): RecordsConfig => {
  const settings = environment.parse(env);
  return {
    limits: { scanRows: settings.BACKLOT_SCAN_ROWS, pageBytes: settings.BACKLOT_PAGE_BYTES },
  };
};
