import { randomBytes } from 'node:crypto';
import type { Database } from '@backlot/database';
import {
  type ProviderAccount,
  type ProviderPayment,
  SessionNotFound,
  type SessionState,
} from '../checkout/provider.ts';

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

export interface TestCheckout extends ProviderAccount {
  /** What the payer's button does, once: false where the session is not open any more. */
  pay(projectNumber: number, sessionId: string): Promise<boolean>;
}

const sessionIdBytes = 32;

/** A provider without money: its sessions are in the table `test_sessions`, its page is page.ts. */
export const createTestCheckout = ({
  database,
  publicUrl,
  now,
}: TestCheckoutDeps): TestCheckout => {
  const find = async (payment: ProviderPayment): Promise<Row> => {
    const [row] = await database.query<Row>(
      `SELECT id, CASE WHEN status = 'open' AND expires_at <= $3 THEN 'expired' ELSE status END AS status
         FROM test_sessions WHERE project_number = $1 AND id = $2`,
      [payment.project.number, payment.sessionId, new Date(now())],
    );
    if (!row) throw new SessionNotFound();
    return row;
  };
  const transition = (projectNumber: number, sessionId: string, from: string, to: string) =>
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
      const url = `${base}/payments/test-checkout/${sessionId}`;
      return { sessionId, url, livemode: false };
    },

    async retrieve(payment) {
      const { status } = await find(payment);
      const isSettled = status === 'paid' || status === 'refunded';
      return { status, chargeId: isSettled ? payment.sessionId : null };
    },

    async expire(payment) {
      await find(payment);
      await transition(payment.project.number, payment.sessionId, 'open', 'expired');
    },

    async refund(payment) {
      await transition(payment.project.number, payment.sessionId, 'paid', 'refunded');
      if ((await find(payment)).status !== 'refunded') throw new SessionNotFound();
    },

    pay: async (projectNumber, sessionId) =>
      (await transition(projectNumber, sessionId, 'open', 'paid')).length > 0,
  };
};
