import { z } from 'zod';

/** What a budget bounds: what visitors take, or a whole project. */
export const budgetKinds = ['visitors', 'project'] as const;
export type BudgetKind = (typeof budgetKinds)[number];

export const creditEvents = {
  /** A priced call did its work: one ledger line per `callId`, however often this arrives. */
  'usage.recorded': z.object({
    callId: z.uuid(),
    projectId: z.string(),
    projectNumber: z.number().int(),
    ownerId: z.uuid(),
    /** operationId of the route. */
    route: z.string(),
    millicredits: z.number().int().min(0),
    /** What was used, for example `{tokens: 120}`. */
    units: z.record(z.string(), z.number()),
    /** `user:<id>`, `key:<id>`, `owner`, `member:<id>`, `operator` or `visitor`; absent from events of older versions. */
    caller: z.string().max(100).optional(),
    /** Network address of a visitor or user. */
    address: z.string().max(100).optional(),
    occurredAt: z.string(),
  }),
  /** An owner has used up this part of what was granted for the month. */
  'credits.low': z.object({
    ownerId: z.uuid(),
    percent: z.union([z.literal(80), z.literal(95), z.literal(100)]),
    balanceMillicredits: z.number().int(),
  }),
  /** Visitors, or a whole project, have met a budget: at most once a day and kind for an owner. */
  'budget.reached': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    projectName: z.string(),
    ownerId: z.uuid(),
    kind: z.enum(budgetKinds),
    /** Of who met it first: network address, and method and path of the call. */
    address: z.string(),
    route: z.string(),
  }),
} as const;
