import { availableParallelism } from 'node:os';
import { scanConnections } from '@backlot/database';
import { defineConfig } from '@backlot/service';
import { z } from 'zod';
import type { ReadLimits } from './list/list-statement.ts';
import type { QuotaLimits } from './record/quota.ts';

export interface RecordsConfig {
  limits: ReadLimits;
  quota: QuotaLimits;
  /** Scans at work in PostgreSQL at once. */
  scanConcurrency: number;
}

const GB = 1_000_000_000;
const totalSetting = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

const settings = z.object({
  BACKLOT_SCAN_ROWS: z.coerce.number().int().min(1).max(100_000_000).default(100_000),
  BACKLOT_SCAN_CONCURRENCY: z.coerce.number().int().min(1).max(scanConnections).optional(),
  BACKLOT_PAGE_BYTES: z.coerce
    .number()
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(32 * 1024 * 1024),
  BACKLOT_RECORDS_QUOTA_BYTES: totalSetting.default(5 * GB),
  BACKLOT_RECORDS_QUOTA_RECORDS: totalSetting.default(5_000_000),
  BACKLOT_RECORDS_OWNER_QUOTA_BYTES: totalSetting.default(20 * GB),
  BACKLOT_RECORDS_OWNER_QUOTA_RECORDS: totalSetting.default(20_000_000),
});

/**
 * A scan keeps a core of PostgreSQL's machine busy, which is this one until a setting says otherwise:
 * with six at once on two cores a neighbour's p99 was 9 to 15 times the quiet one, with one 1.3 to 2.2.
 */
const usualScanConcurrency = Math.min(
  scanConnections,
  Math.max(1, Math.floor(availableParallelism() / 2)),
);

export const recordsConfig = defineConfig(
  settings,
  (values): RecordsConfig => ({
    limits: { scanRows: values.BACKLOT_SCAN_ROWS, pageBytes: values.BACKLOT_PAGE_BYTES },
    scanConcurrency: values.BACKLOT_SCAN_CONCURRENCY ?? usualScanConcurrency,
    quota: {
      project: {
        records: values.BACKLOT_RECORDS_QUOTA_RECORDS,
        bytes: values.BACKLOT_RECORDS_QUOTA_BYTES,
      },
      owner: {
        records: values.BACKLOT_RECORDS_OWNER_QUOTA_RECORDS,
        bytes: values.BACKLOT_RECORDS_OWNER_QUOTA_BYTES,
      },
    },
  }),
);
