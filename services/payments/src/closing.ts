import { events, type ProjectDirectory } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { CheckoutFailed, SessionUnknown } from './checkout/checkout.ts';
import { soldOf } from './checkouts.ts';
import type { PaymentRow } from './payments.ts';
import type { Providers } from './providers.ts';

/** Sessions that are closed in one go before an erasure, and how many of them at a time. */
const batchSize = 50;
const concurrency = 5;

export interface ClosingDeps {
  database: Database;
  providers: Providers;
  projects: ProjectDirectory;
  now: () => number;
}

export type Closing = ReturnType<typeof createClosing>;

/** Nobody is to pay for what a deleted project sold: its open sessions are closed at the provider. */
export const createClosing = ({ database, providers, projects, now }: ClosingDeps) => {
  const isGone = async (projectId: string): Promise<boolean> => {
    const status = (await projects.findProject(projectId))?.status ?? 'deleted';
    return status === 'deleted';
  };

  /** @throws CheckoutFailed where it may succeed later */
  const close = async (row: PaymentRow): Promise<void> => {
    if (row.session_id === null) return;
    try {
      const checkout = await providers.checkoutOf(row.project_number, row.provider);
      await checkout?.expire(soldOf(row, row.session_id));
    } catch (error) {
      const isHopeless =
        error instanceof SessionUnknown ||
        (error instanceof CheckoutFailed && error.reason === 'credentials');
      if (!isHopeless) throw error;
    }
  };

  return {
    /** Of the session of an open payment. @throws CheckoutFailed where it may succeed later */
    async closeIfGone(row: PaymentRow): Promise<void> {
      if (await isGone(row.project_id)) await close(row);
    },

    /**
     * Leaves the closing to the next sweep, which also tries again.
     * @throws ZodError where the payload is none of `project.changed`
     */
    async projectChanged(payload: unknown): Promise<void> {
      const { projectId, projectNumber } = events['project.changed'].parse(payload);
      if (!(await isGone(projectId))) return;
      await database.query(
        "UPDATE payments SET check_at = $2, checks = 0 WHERE project_number = $1 AND status = 'open'",
        [projectNumber, new Date(now())],
      );
    },

    /** While there are keys to do it with. @throws CheckoutFailed of the first that is not closed */
    async closeAllOf(projectNumber: number): Promise<void> {
      let rows: PaymentRow[] = [];
      do {
        rows = await database.query<PaymentRow>(
          `SELECT * FROM payments WHERE project_number = $1 AND status = 'open'
              AND session_id IS NOT NULL AND expires_at > $2 AND ($3::uuid IS NULL OR id > $3)
            ORDER BY id LIMIT $4`,
          [projectNumber, new Date(now()), rows.at(-1)?.id, batchSize],
        );
        for (let start = 0; start < rows.length; start += concurrency)
          await Promise.all(rows.slice(start, start + concurrency).map(close));
      } while (rows.length === batchSize);
    },
  };
};
