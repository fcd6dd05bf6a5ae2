import { z } from 'zod';

export const explain = z
  .enum(['1', '0', 'true', 'false', ''])
  .optional()
  .describe('1: with how the answer was found; for the owner and keys');

const planKind = z.enum(['key', 'exact', 'index', 'scan', 'search']);
/** docs/api.md, "Why a call is slow". */
export const explained = z
  .array(
    z
      .object({
        kind: planKind.describe(
          'By the primary key; by an index alone; by an index, with tests of what it leads to; through all records; by words',
        ),
        indexes: z.array(z.string()).describe('Fields by whose indexes it was found'),
        tried: z
          .array(planKind)
          .describe('What came first and would have looked at too many records'),
        wants: z
          .array(z.string())
          .describe('Fields for which it looked through records, where an index would do'),
        building: z.array(z.string()).describe('Fields whose indexes are being made meanwhile'),
        queue: z
          .enum(['none', 'index', 'quick-scans', 'scans'])
          .describe('Where it waited for its turn'),
        waitedMs: z.int().min(0).describe('For its first turn'),
        ms: z.int().min(0).describe('From then on, with turns of others in between'),
        statements: z.int().min(0),
      })
      .meta({ id: 'ExplainedPlan' }),
  )
  .optional()
  .describe('How the answer was found, where `explain` asks: of the page, then of its total');
