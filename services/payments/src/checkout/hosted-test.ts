import { randomBytes } from 'node:crypto';
import type { Database } from '@backlot/database';
import { type Checkout, type SessionState, SessionUnknown, type Sold } from './checkout.ts';

interface Row {
  id: string;
  status: SessionState['status'];
}

export interface TestCheckoutDeps {
  database: Database;
  /** Origin and path prefix of the gateway. */
  publicUrl: string;
  /** Epoch milliseconds. */
  now: () => number;
}

export interface TestCheckout extends Checkout {
  /** What the payer's button does, once: false where the session is not open any more. */
  pay(projectNumber: number, sessionId: string): Promise<boolean>;
}

const sessionIdBytes = 32;

/** A provider of its own, without money: its books are in the table `test_sessions`, its page in routes. */
export const createTestCheckout = ({
  database,
  publicUrl,
  now,
}: TestCheckoutDeps): TestCheckout => {
  const find = async (sold: Sold): Promise<Row> => {
    const [row] = await database.query<Row>(
      `SELECT id, CASE WHEN status = 'open' AND expires_at <= $3 THEN 'expired' ELSE status END AS status
         FROM test_sessions WHERE project_number = $1 AND id = $2`,
      [sold.project.number, sold.sessionId, new Date(now())],
    );
    if (!row) throw new SessionUnknown();
    return row;
  };
  const move = (projectNumber: number, sessionId: string, from: string, to: string) =>
    database.query(
      `UPDATE test_sessions SET status = $4
        WHERE project_number = $1 AND id = $2 AND status = $3
          AND (status <> 'open' OR expires_at > $5) RETURNING 1`,
      [projectNumber, sessionId, from, to, new Date(now())],
    );

  return {
    async create({ paymentId, project, expiresAt }) {
      const id = `cs_test_${randomBytes(sessionIdBytes).toString('base64url')}`;
      const [row] = await database.query<{ id: string }>(
        `INSERT INTO test_sessions (id, project_number, payment_id, expires_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (project_number, payment_id) DO UPDATE SET payment_id = excluded.payment_id
         RETURNING id`,
        [id, project.number, paymentId, expiresAt],
      );
      const sessionId = row?.id ?? id;
      const base = `${publicUrl}/api/runtime/${project.id}`;
      return { sessionId, url: `${base}/payments/test-checkout/${sessionId}` };
    },

    async retrieve(sold) {
      const { status } = await find(sold);
      const isSettled = status === 'paid' || status === 'refunded';
      return { status, chargeId: isSettled ? sold.sessionId : null };
    },

    async expire(sold) {
      await find(sold);
      await move(sold.project.number, sold.sessionId, 'open', 'expired');
    },

    async refund(sold) {
      await move(sold.project.number, sold.sessionId, 'paid', 'refunded');
      if ((await find(sold)).status !== 'refunded') throw new SessionUnknown();
    },

    pay: async (projectNumber, sessionId) =>
      (await move(projectNumber, sessionId, 'open', 'paid')).length > 0,
  };
};
