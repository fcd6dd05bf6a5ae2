import { auditRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Logger } from '@backlot/telemetry';
import { createListActs } from './list-acts.ts';
import { createTakeActs } from './take-acts.ts';
import { createVerifyActs } from './verify-acts.ts';

export interface AuditDeps {
  database: Database;
  log: Pick<Logger, 'error'>;
  /** Epoch milliseconds. */
  now: () => number;
}

const dayMs = 24 * 3600 * 1000;
const verifyEveryMs = 10 * 60_000;
const erasedAtOnce = 1000;

export type Audit = ReturnType<typeof createAudit>;

/** Who has changed what of the control plane (docs/operations.md, "The audit log"). */
export const createAudit = (deps: AuditDeps) => {
  const { database, now } = deps;
  const { verifyDue, last } = createVerifyActs(deps);

  /** Lines stay for good; what they tell of people and contents does not. */
  const sweepDetails = async () => {
    const oldest = new Date(now() - auditRoutes.keptDetailDays * dayMs);
    let erased = erasedAtOnce;
    while (erased === erasedAtOnce)
      erased = (
        await database.execute(
          `DELETE FROM audit_details WHERE id IN (
             SELECT id FROM audit_details WHERE at < $1 ORDER BY at LIMIT ${erasedAtOnce})`,
          [oldest],
        )
      ).rowCount;
  };

  return {
    take: createTakeActs(database),
    ...createListActs(database),
    lastVerification: last,
    verifyDue,

    /** Of an account that was erased: its id names nobody from now on. Again is harmless. */
    eraseUser: (userId: string): Promise<void> =>
      database.transaction(async () => {
        await database.query(
          'INSERT INTO audit_erasures (user_id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING',
          [userId, new Date(now())],
        );
        await database.query(
          `DELETE FROM audit_details USING audit_lines
            WHERE audit_lines.id = audit_details.id AND (chain = $1 OR actor = $1)`,
          [userId],
        );
      }),

    sweeps: [{ run: sweepDetails }, { run: verifyDue, everyMs: verifyEveryMs }],
  };
};
