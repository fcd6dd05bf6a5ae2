import { scanConnections } from '@backlot/database';
import { halfOfCores } from '@backlot/fair-shares';
import { defineConfig } from '@backlot/service';
import { z } from 'zod';
import type { LogLimits } from './change-log/keep-log.ts';
import { type PlaceLimits, placeLimits } from './collections/table/places.ts';
import type { ReadLimits } from './query/list-statement.ts';
import type { QuotaLimits } from './record/quota/quota.ts';

export interface RecordsConfig {
  limits: ReadLimits;
  quota: QuotaLimits;
  places: PlaceLimits;
  history: LogLimits;
  /** Scans at work in PostgreSQL at once. */
  scanConcurrency: number;
}

const GB = 1_000_000_000;
const totalSetting = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

const settings = z.object({
  BACKLOT_SCAN_ROWS: z.coerce.number().int().min(1).max(100_000_000).default(100_000),
  BACKLOT_SCAN_CONCURRENCY: z.coerce.number().int().min(1).max(scanConnections).optional(),
  BACKLOT_RECORDS_QUOTA_BYTES: totalSetting.default(5 * GB),
  BACKLOT_RECORDS_QUOTA_RECORDS: totalSetting.default(5_000_000),
  BACKLOT_RECORDS_OWNER_QUOTA_BYTES: totalSetting.default(20 * GB),
  BACKLOT_RECORDS_OWNER_QUOTA_RECORDS: totalSetting.default(20_000_000),
  BACKLOT_HISTORY_DAYS: z.coerce.number().int().min(1).max(10).default(7),
  BACKLOT_HISTORY_BYTES: totalSetting.default(GB),
});

export const recordsConfig = defineConfig(
  settings,
  (values): RecordsConfig => ({
    limits: { scanRows: values.BACKLOT_SCAN_ROWS, pageBytes: 32 * 1024 * 1024 },
    scanConcurrency: values.BACKLOT_SCAN_CONCURRENCY ?? Math.min(scanConnections, halfOfCores),
    places: placeLimits,
    history: { days: values.BACKLOT_HISTORY_DAYS, bytes: values.BACKLOT_HISTORY_BYTES },
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
