import { randomBytes } from 'node:crypto';
import { createQueries, type Database } from '@backlot/database';
import {
  type ProviderAccount,
  type ProviderPayment,
  SessionNotFound,
  type SessionState,
} from '../provider/provider.ts';
import type { DB as Tables } from '../tables.ts';

type Status = SessionState['status'];

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
  /** The same for a payment that does not go through: that session is over. */
  fail(projectNumber: number, sessionId: string): Promise<boolean>;
}

const sessionIdBytes = 32;

/** A provider without money: its sessions are in the table `test_sessions`, its page is page.ts. */
export const createTestCheckout = ({
  database,
  publicUrl,
  now,
}: TestCheckoutDeps): TestCheckout => {
  const queries = createQueries<Tables>(database);
  const findStatus = async (payment: ProviderPayment): Promise<Status> => {
    const row = await queries
      .selectFrom('test_sessions')
      .select(['status', 'expires_at'])
      .where('project_number', '=', payment.project.number)
      .where('id', '=', payment.sessionId)
      .$narrowType<{ status: Status }>()
      .executeTakeFirst();
    if (!row) throw new SessionNotFound();
    return row.status === 'open' && row.expires_at.getTime() <= now() ? 'expired' : row.status;
  };
  const transition = async (projectNumber: number, sessionId: string, from: Status, to: Status) => {
    const { numUpdatedRows } = await queries
      .updateTable('test_sessions')
      .set({ status: to })
      .where('project_number', '=', projectNumber)
      .where('id', '=', sessionId)
      .where('status', '=', from)
      .where(({ eb, or }) =>
        or([eb('status', '<>', 'open'), eb('expires_at', '>', new Date(now()))]),
      )
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  };

  return {
    async create({ paymentId, project, expiresAt }) {
      const id = `cs_test_${randomBytes(sessionIdBytes).toString('base64url')}`;
      const { id: sessionId } = await queries
        .insertInto('test_sessions')
        .values({
          id,
          project_number: project.number,
          payment_id: paymentId,
          expires_at: expiresAt,
        })
        .onConflict((conflict) =>
          conflict.columns(['project_number', 'payment_id']).doUpdateSet({ payment_id: paymentId }),
        )
        .returning('id')
        .executeTakeFirstOrThrow();
      const base = `${publicUrl}/api/runtime/${project.id}`;
      const url = `${base}/payments/test-checkout/${sessionId}`;
      return { sessionId, url, livemode: false };
    },

    async retrieve(payment) {
      const status = await findStatus(payment);
      const isSettled = status === 'paid' || status === 'refunded';
      return { status, chargeId: isSettled ? payment.sessionId : null };
    },

    async expire(payment) {
      await findStatus(payment);
      await transition(payment.project.number, payment.sessionId, 'open', 'expired');
    },

    // No money moves: how much was given back, the payment itself says.
    async refund(payment, { isLast }) {
      if (isLast) await transition(payment.project.number, payment.sessionId, 'paid', 'refunded');
      const status = await findStatus(payment);
      if (status !== 'refunded' && (isLast || status !== 'paid')) throw new SessionNotFound();
    },

    pay: (projectNumber, sessionId) => transition(projectNumber, sessionId, 'open', 'paid'),
    fail: (projectNumber, sessionId) => transition(projectNumber, sessionId, 'open', 'expired'),
  };
};
