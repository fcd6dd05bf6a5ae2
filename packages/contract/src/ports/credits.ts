import type { BudgetKind } from '../events/credits.ts';

/** A call that a budget of its project has refused. */
export interface BudgetRefusal {
  projectId: string;
  projectNumber: number;
  kind: BudgetKind;
  /** Network address of the caller. */
  address: string;
  /** Method and path. */
  route: string;
}

/** Which of a project's sums the counters have to know. */
export interface ProjectUseAsking {
  projectNumber: number;
  /** Days (`2026-11-27`) and months (`2026-11`), UTC; at most 4. */
  periods: readonly string[];
}

/** Offered by the projects service. */
export interface CreditDirectory {
  /**
   * Puts an owner's balance from the ledger into the counters, and what a project has used; makes the
   * month's grant where due.
   */
  loadOwner(ownerId: string, project?: ProjectUseAsking): Promise<void>;
  /** Has the owner told, once a day and kind. */
  noteRefusal(ownerId: string, refusal: BudgetRefusal): Promise<void>;
}
