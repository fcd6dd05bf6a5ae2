import { createQueries, type Database } from '@backlot/database';
import type { DB as Tables } from '../tables.ts';
import type { ProviderName } from './provider.ts';

/** Whose money a session takes: that of the test checkout, of Stripe's test keys, or real money. */
export interface Mode {
  provider: ProviderName;
  livemode: boolean;
}

/** A session pays in the mode that it was opened in, and in no other. */
export const isSameMode = (one: Mode, other: Mode | undefined): boolean =>
  one.provider === other?.provider && one.livemode === other.livemode;

export type Modes = ReturnType<typeof createModes>;

/** The mode in which a project takes payments at present. */
export const createModes = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);
  return {
    /** Undefined where its keys were deleted and nothing was chosen in their place. */
    async current(projectNumber: number): Promise<Mode | undefined> {
      const [row] = await database.query<{ mode: string | null; is_closed: boolean }>(
        `SELECT (SELECT mode FROM secrets WHERE project_number = $1) AS mode,
                EXISTS (SELECT FROM closed_checkouts WHERE project_number = $1) AS is_closed`,
        [projectNumber],
      );
      if (row?.mode != null) return { provider: 'stripe', livemode: row.mode === 'live' };
      return row?.is_closed ? undefined : { provider: 'test-checkout', livemode: false };
    },

    /** To be called in the transaction that changes the mode. The next sweep closes them at the provider. */
    async closeOthers(projectNumber: number, { provider, livemode }: Mode): Promise<void> {
      await queries
        .updateTable('payments')
        .set({ closed_reason: 'mode_changed', check_at: new Date(now()), checks: 0 })
        .where('project_number', '=', projectNumber)
        .where('status', '=', 'open')
        .where('closed_reason', 'is', null)
        .where(({ eb, or }) => or([eb('provider', '<>', provider), eb('livemode', '<>', livemode)]))
        .execute();
    },
  };
};
