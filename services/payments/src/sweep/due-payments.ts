import type { Database } from '@backlot/database';
import type { PaymentRow } from '../payments/payment-row.ts';

const batchSize = 50;
const maxBatches = 20;
const largestProjectNumber = 2 ** 31 - 1;

/** What a sweep can bring to its end. */
type Unsettled = 'open' | 'refunding';

/** One index look-up for each project that has such payments. */
const findProjects = (status: Unsettled) => `WITH RECURSIVE found (number) AS (
    SELECT $1::integer
     UNION ALL
    SELECT next.project_number FROM found CROSS JOIN LATERAL (
      SELECT project_number FROM payments
       WHERE status = '${status}' AND project_number > found.number AND project_number <= $2
       ORDER BY project_number LIMIT 1) AS next)
  SELECT number FROM found
   WHERE number > $1 AND EXISTS (
     SELECT FROM payments WHERE status = '${status}' AND project_number = number AND check_at <= $3)
   LIMIT ${batchSize * maxBatches}`;

/** The next check comes later and later: 10 minutes, 20 minutes, up to 6 hours. */
const claimDue = (status: Unsettled) => `WITH due AS (
    SELECT payment.id FROM unnest($1::integer[]) AS project (number) CROSS JOIN LATERAL (
      SELECT id FROM payments
       WHERE status = '${status}' AND project_number = project.number AND check_at <= $2
       ORDER BY check_at LIMIT $3 FOR UPDATE SKIP LOCKED) AS payment)
  UPDATE payments SET checks = checks + 1,
         check_at = $2 + least(interval '10 minutes' * 2 ^ least(checks, 6), interval '6 hours')
    FROM due WHERE payments.id = due.id RETURNING payments.*`;

/**
 * Payments that the sweep has to look after. Each project has its part of a batch, and the projects take
 * turns, so that thousands of sessions that nobody pays delay only their own project's.
 */
export const createDuePayments = (database: Database, now: () => number) => {
  /** The project that was served last. */
  const last: Record<Unsettled, number> = { open: 0, refunding: 0 };

  const dueProjects = async (status: Unsettled): Promise<number[]> => {
    const between = async (after: number, upTo: number) => {
      const rows = await database.query<{ number: number }>(findProjects(status), [
        after,
        upTo,
        new Date(now()),
      ]);
      return rows.map(({ number }) => number);
    };
    const following = await between(last[status], largestProjectNumber);
    return [...following, ...(await between(0, last[status]))];
  };

  return {
    /** Claims them, about 50 at a time and 1,000 in all: no two sweeps get the same. */
    async *claim(status: Unsettled): AsyncGenerator<PaymentRow[]> {
      const projects = await dueProjects(status);
      for (let batch = 0; batch < maxBatches && projects.length > 0; batch++) {
        const turn = projects.splice(0, batchSize);
        const perProject = Math.ceil(batchSize / turn.length);
        const rows = await database.query<PaymentRow>(claimDue(status), [
          turn,
          new Date(now()),
          perProject,
        ]);
        yield rows;
        const mayHaveMore = (project: number) =>
          rows.filter((row) => row.project_number === project).length === perProject;
        projects.push(...turn.filter(mayHaveMore));
        last[status] = turn.at(-1) ?? 0;
      }
    },
  };
};
