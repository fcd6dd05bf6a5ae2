import { events, type ProjectDirectory } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import pMap from 'p-map';
import { ProviderFailed, SessionNotFound } from '../checkout/provider.ts';
import type { ProviderAccounts } from '../checkout/provider-accounts.ts';
import type { DB as Tables } from '../tables.ts';
import { type PaymentRow, type PaymentValues, toProviderPayment } from './payment-row.ts';

const batchSize = 50;
/** Calls to providers at a time. */
const concurrency = 5;

export interface SessionCloserDeps {
  database: Database;
  accounts: ProviderAccounts;
  projects: ProjectDirectory;
  now: () => number;
}

export type SessionCloser = ReturnType<typeof createSessionCloser>;

/** Closes a deleted project's open sessions at the provider, so that nobody pays for what it sold. */
export const createSessionCloser = ({ database, accounts, projects, now }: SessionCloserDeps) => {
  const queries = createQueries<Tables>(database);

  const isDeleted = async (projectId: string): Promise<boolean> => {
    const status = (await projects.findProject(projectId))?.status ?? 'deleted';
    return status === 'deleted';
  };

  /** @throws ProviderFailed where it may succeed later */
  const close = async (row: PaymentRow): Promise<void> => {
    if (row.session_id === null) return;
    try {
      const account = await accounts.find(row.project_number, row.provider);
      await account?.expire(toProviderPayment(row, row.session_id));
    } catch (error) {
      const isHopeless =
        error instanceof SessionNotFound ||
        (error instanceof ProviderFailed && error.reason === 'credentials');
      if (!isHopeless) throw error;
    }
  };

  return {
    /** @throws ProviderFailed where it may succeed later */
    async closeIfProjectDeleted(row: PaymentRow): Promise<void> {
      if (await isDeleted(row.project_id)) await close(row);
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
