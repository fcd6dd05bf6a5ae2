import { events, type ProjectDirectory } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import pMap from 'p-map';
import type { ProviderAccounts } from '../checkout/provider-accounts.ts';
import { type PaymentRow, type PaymentValues, toProviderPayment } from '../payments/payment-row.ts';
import { isSameMode, type Modes } from '../provider/modes.ts';
import { ProviderFailed, SessionNotFound } from '../provider/provider.ts';
import type { DB as Tables } from '../tables.ts';

const batchSize = 50;
/** Calls to providers at a time. */
const concurrency = 5;

export interface SessionCloserDeps {
  database: Database;
  accounts: ProviderAccounts;
  projects: ProjectDirectory;
  modes: Modes;
  now: () => number;
}

export type SessionCloser = ReturnType<typeof createSessionCloser>;

/**
 * Closes open sessions at the provider, so that nobody pays for what is not sold any more: those of deleted projects,
 * and those of another mode than the project's.
 */
export const createSessionCloser = (deps: SessionCloserDeps) => {
  const { database, accounts, projects, modes, now } = deps;
  const queries = createQueries<Tables>(database);

  const isDeleted = async (projectId: string): Promise<boolean> => {
    const status = (await projects.findProject(projectId))?.status ?? 'deleted';
    return status === 'deleted';
  };

  /** @throws ProviderFailed where it may succeed later */
  const close = async (row: PaymentRow): Promise<void> => {
    if (row.session_id === null) return;
    try {
      const account = await accounts.find(row);
      await account?.expire(toProviderPayment(row, row.session_id));
    } catch (error) {
      const isHopeless =
        error instanceof SessionNotFound ||
        (error instanceof ProviderFailed && error.reason === 'credentials');
      if (!isHopeless) throw error;
    }
  };

  /** Nobody's keys open it any more: of a project whose keys were deleted they may come back. */
  const isOfOtherMode = async (row: PaymentRow): Promise<boolean> => {
    const current = await modes.current(row.project_number);
    return row.closed_reason !== null || (current !== undefined && !isSameMode(row, current));
  };

  return {
    /** @returns whether no provider can say any more what became of it. @throws ProviderFailed where it may succeed later */
    async closeIfOver(row: PaymentRow): Promise<boolean> {
      const isOther = await isOfOtherMode(row);
      if (isOther || (await isDeleted(row.project_id))) await close(row);
      return isOther && (await accounts.find(row)) === undefined;
    },

    /**
     * The next sweep closes the sessions, and retries those that fail.
     * @throws ZodError where the payload is none of `project.changed`
     */
    async projectChanged(payload: unknown): Promise<void> {
      const { projectId, projectNumber } = events['project.changed'].parse(payload);
      if (!(await isDeleted(projectId))) return;
      await queries
        .updateTable('payments')
        .set({ check_at: new Date(now()), checks: 0 })
        .where('project_number', '=', projectNumber)
        .where('status', '=', 'open')
        .execute();
    },

    /** While the project still has keys. @throws ProviderFailed of the first that fails */
    async closeAll(projectNumber: number): Promise<void> {
      let rows: PaymentRow[] = [];
      do {
        const last = rows.at(-1);
        const open = queries
          .selectFrom('payments')
          .selectAll()
          .where('project_number', '=', projectNumber)
          .where('status', '=', 'open')
          .where('session_id', 'is not', null)
          .where('expires_at', '>', new Date(now()));
        rows = await (last ? open.where('id', '>', last.id) : open)
          .orderBy('id')
          .limit(batchSize)
          .$narrowType<PaymentValues>()
          .execute();
        await pMap(rows, close, { concurrency });
      } while (rows.length === batchSize);
    },
  };
};
