import { z } from 'zod';
import { maxRecordBytes } from '../define-route.ts';

const count = z.int().min(1).max(1_000_000);
const hourly = z.int().min(1).max(100_000);

/** docs/owners.md, "Limits of a collection". */
const limits = {
  maxBytes: z.int().min(2).max(maxRecordBytes).describe('Of a record, as JSON'),
  perUser: count.describe('Records that one user may own'),
  perUserPerHour: hourly.describe('Records that one user may make in an hour'),
  perAddressPerHour: hourly.describe(
    'Records that may be made from one network address in an hour, by visitors and users',
  ),
};

export const collectionLimits = z.object(limits).partial();
export type CollectionLimits = z.infer<typeof collectionLimits>;

export const limitsChange = z.strictObject({
  maxBytes: limits.maxBytes.nullish(),
  perUser: limits.perUser.nullish(),
  perUserPerHour: limits.perUserPerHour.nullish(),
  perAddressPerHour: limits.perAddressPerHour.nullish(),
});
export type LimitsChange = z.infer<typeof limitsChange>;
