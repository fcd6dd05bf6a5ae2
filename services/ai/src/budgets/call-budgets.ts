import { type ApiError, affordableQuantity, aiRoutes, costMillicredits } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import {
  budgetUsedUp,
  chargeFor,
  coveredQuantity,
  notCovered,
  type RecordUsage,
  type VisitorBudgets,
} from '@backlot/service';

/** What one call may use. It ends with `record` or `release`. */
export interface CallBudget {
  maxOutputTokens: number;
  /** The error of an answer that is too short, where credits allow less than the caller asked for. */
  limitError: (() => ApiError) | undefined;
  /** Milli-credits; undefined where the call is free. */
  cost(tokens: number): number | undefined;
  /** Stores the usage for the ledger, and returns the rest to the visitor's budget. */
  record(tokens: number): Promise<void>;
  /** Returns everything; the gateway does the same with the owner's credits. */
  release(): Promise<void>;
}

export interface CallBudgetsDeps {
  database: Database;
  recordUsage: RecordUsage;
  visitorBudgets: VisitorBudgets;
  now: () => number;
}

export interface WorstCase {
  promptTokens: number;
  outputTokens: number;
}

const price = aiRoutes.generationPrice;

const tooFewCredits = 'The credits left do not cover this prompt and its answer.';

export const createCallBudgets = ({
  database,
  recordUsage,
  visitorBudgets,
  now,
}: CallBudgetsDeps) => ({
  /** @throws ApiError out_of_credits, visitor_budget where the prompt alone is more than is left */
  async reserve(
    identity: Identity,
    { promptTokens, outputTokens }: WorstCase,
  ): Promise<CallBudget> {
    const outOfCredits = () => notCovered(identity, tooFewCredits, now());
    const ownerTokens = coveredQuantity(identity, price);
    if (ownerTokens <= promptTokens) throw outOfCredits();
    const { reservation } = identity;
    // A visitor's day goes down by the list price where nobody pays for the call.
    const perUnit = reservation?.millicreditsPerUnit ?? price.millicreditsPerUnit;
    const worstCase = costMillicredits(price, promptTokens + outputTokens, perUnit);
    const visitor = await visitorBudgets.reserve(identity, {
      wanted: Math.min(worstCase, reservation?.millicredits ?? worstCase),
      least: price.minimumUnits * perUnit,
    });
    const visitorTokens = visitor
      ? affordableQuantity(price, visitor.amount, perUnit)
      : Number.POSITIVE_INFINITY;
    if (visitorTokens <= promptTokens) {
      await visitor?.settle(0);
      throw budgetUsedUp(now());
    }
    const affordable = Math.min(ownerTokens, visitorTokens) - promptTokens;
    const error = visitorTokens < ownerTokens ? () => budgetUsedUp(now()) : outOfCredits;
    return {
      maxOutputTokens: Math.min(outputTokens, affordable),
      limitError: affordable < outputTokens ? error : undefined,
      cost: (tokens) => chargeFor(identity, price, tokens),
      async record(tokens) {
        if (!visitor) return recordUsage(identity, tokens);
        await database.transaction(async () => {
          await recordUsage(identity, tokens);
          await visitor.settle(costMillicredits(price, tokens, perUnit));
        });
      },
      release: async () => visitor?.settle(0),
    };
  },
});

export type CallBudgets = ReturnType<typeof createCallBudgets>;
