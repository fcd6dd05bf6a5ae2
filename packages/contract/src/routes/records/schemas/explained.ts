import { z } from 'zod';

export const explain = z
  .enum(['1', '0', 'true', 'false', ''])
  .optional()
  .describe('1: how it was found; for the owner and keys');

const planKind = z.enum(['key', 'exact', 'index', 'scan', 'search']);

/** docs/owners.md, "Why a call is slow". */
export const explained = z
  .array(
    z
      .object({
        kind: planKind,
        indexes: z.array(z.string()),
        tried: z.array(planKind),
        wants: z.array(z.string()),
        building: z.array(z.string()),
        queue: z.enum(['none', 'index', 'quick-scans', 'scans']),
        waitedMs: z.int().min(0),
        ms: z.int().min(0),
        statements: z.int().min(0),
      })
      .meta({ id: 'ExplainedPlan', description: 'docs/owners.md, "Why a call is slow"' }),
  )
  .optional();
