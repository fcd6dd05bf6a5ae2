import { ApiError, aiRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { chargeFor, millicreditsFor, payerOf, type Usage } from './usage.ts';
import { usedUp, type VisitorBudgets } from './visitor-budgets.ts';

/** What one call may use. It ends with `book` or `refund`. */
export interface Spending {
  maxOutputTokens: number;
  /** Why the answer was cut, where it was held to less than the caller has asked for. */
  heldBy: (() => ApiError) | undefined;
  /** What the answer states; undefined where the call is free. */
  priceOf(tokens: number): number | undefined;
  /** Stores for the ledger what was used, and gives back the rest of the visitor's day. */
  book(tokens: number): Promise<void>;
  /** Gives it all back; where the call is paid for, the gateway does the same. */
  refund(): Promise<void>;
}

export interface SpendingDeps {
  database: Database;
  usage: Usage;
  visitorBudgets: VisitorBudgets;
  now: () => number;
}

export interface Wanted {
  promptTokens: number;
  outputTokens: number;
}

const outOfCredits = () =>
  new ApiError('out_of_credits', 'The credits left do not cover this prompt and its answer.');

export const createSpendings = ({ database, usage, visitorBudgets, now }: SpendingDeps) => ({
  /** @throws ApiError out_of_credits, visitor_budget where the prompt alone is more than is left */
  async open(identity: Identity, { promptTokens, outputTokens }: Wanted): Promise<Spending> {
    const payer = payerOf(identity);
    // A token is a milli-credit.
    const owners = payer ? payer.millicredits : Number.POSITIVE_INFINITY;
    if (owners <= promptTokens) throw outOfCredits();
    const worstCase = aiRoutes.generationMillicredits(promptTokens + outputTokens);
    const allowance = await visitorBudgets.reserve(identity, Math.min(worstCase, owners));
    const visitors = allowance?.millicredits ?? Number.POSITIVE_INFINITY;
    if (visitors <= promptTokens) {
      await allowance?.settle(0);
      throw usedUp(now());
    }
    const affordable = Math.min(owners, visitors) - promptTokens;
    const holder = visitors < owners ? () => usedUp(now()) : outOfCredits;
    return {
      maxOutputTokens: Math.min(outputTokens, affordable),
      heldBy: affordable < outputTokens ? holder : undefined,
      priceOf: (tokens) => (payer ? chargeFor(payer, tokens) : undefined),
      async book(tokens) {
        if (!allowance) return usage.record(identity, tokens);
        await database.transaction(async () => {
          await usage.record(identity, tokens);
          await allowance.settle(millicreditsFor(tokens));
        });
      },
      refund: async () => allowance?.settle(0),
    };
  },
});

export type Spendings = ReturnType<typeof createSpendings>;
