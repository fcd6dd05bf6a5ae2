import {
  ApiError,
  type Payload,
  type Payment,
  type PaymentStatus,
  type paymentRoutes,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { type Page, type PageQuery, pageOf, positionOf } from '@backlot/http';
import { z } from 'zod';
import type { Order, Provider, Session } from './checkout/checkout.ts';

export interface PaymentRow {
  id: string;
  project_number: number;
  project_id: string;
  user_id: string | null;
  provider: Provider;
  session_id: string | null;
  charge_id: string | null;
  status: PaymentStatus;
  amount: number;
  currency: string;
  items: paymentRoutes.Item[];
  metadata: Record<string, string>;
  return_url: string;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  checks: number;
}

/** Which payment, always within one project. */
export type PaymentName = { id: string } | { sessionId: string } | { chargeId: string };

/** What a provider says became of a payment. */
export interface Outcome {
  status: Payload<'payment.changed'>['status'];
  sessionId?: string | null;
  chargeId?: string | null;
}

export const isUuid = (text: string) => z.uuid().safeParse(text).success;
/** PostgreSQL keeps no NUL: such an id names nothing. */
const isNamable = (text: string) => text.isWellFormed() && !text.includes('\0');

/**
 * Forward only, whatever arrives when: what was paid stays so, although a failure or the end of the
 * session is heard later; and what was said to have failed or expired is paid once money has arrived.
 */
const reachedFrom: Record<Outcome['status'], readonly PaymentStatus[]> = {
  failed: ['open'],
  expired: ['open'],
  paid: ['open', 'failed', 'expired'],
  refunded: ['paid'],
};

export const paymentNotFound = () => new ApiError('not_found', 'There is no such payment.');

/** @param sessionId as recorded: nobody sees a payment without one */
export const presentPayment = (row: PaymentRow): Payment => ({
  id: row.id,
  sessionId: row.session_id ?? '',
  status: row.status,
  amount: row.amount,
  currency: row.currency,
  items: row.items.map(({ name, amount, quantity }) => ({ name, amount, quantity })),
  metadata: row.metadata,
  createdAt: row.created_at.toISOString(),
  paidAt: row.paid_at?.toISOString() ?? null,
});

export interface PaymentsDeps {
  database: Database;
  outbox: Outbox;
  now: () => number;
}

export type Payments = ReturnType<typeof createPayments>;

/** The rows: what was ordered, where it is paid, and how far it got. */
export const createPayments = ({ database, outbox, now }: PaymentsDeps) => {
  const step = async (
    projectNumber: number,
    id: string,
    { status, sessionId, chargeId }: Outcome,
  ): Promise<void> => {
    const [row] = await database.query<PaymentRow>(
      `UPDATE payments SET status = $3, session_id = coalesce(session_id, $4),
              charge_id = coalesce($5, charge_id),
              paid_at = CASE WHEN $3 = 'paid' THEN $6::timestamptz ELSE paid_at END
        WHERE project_number = $1 AND id = $2 AND status = ANY($7) RETURNING *`,
      [
        projectNumber,
        id,
        status,
        sessionId ?? null,
        chargeId ?? null,
        new Date(now()),
        reachedFrom[status],
      ],
    );
    if (!row) return;
    const event: Payload<'payment.changed'> = {
      projectId: row.project_id,
      projectNumber,
      paymentId: id,
      status,
    };
    await outbox.append('payment.changed', event);
  };

  const find = async (projectNumber: number, name: PaymentName): Promise<PaymentRow | null> => {
    const value = Object.values(name)[0] ?? '';
    if ('id' in name ? !isUuid(value) : !isNamable(value)) return null;
    const column = 'id' in name ? 'id' : 'sessionId' in name ? 'session_id' : 'charge_id';
    const [row] = await database.query<PaymentRow>(
      `SELECT * FROM payments WHERE project_number = $1 AND ${column} = $2`,
      [projectNumber, value],
    );
    return row ?? null;
  };

  return {
    find,

    /** What a caller may hear of. @throws ApiError not_found */
    async get(projectNumber: number, name: PaymentName): Promise<PaymentRow> {
      const row = await find(projectNumber, name);
      if (row?.session_id == null) throw paymentNotFound();
      return row;
    },

    /** Before the provider is asked, so that money never moves without a row. */
    async insert(order: Order & { amount: number }, provider: Provider, checkAt: Date) {
      const { project } = order;
      await database.query(
        `INSERT INTO payments (id, project_number, project_id, user_id, provider, amount, currency,
                               items, metadata, return_url, created_at, expires_at, check_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
        [
          ...[order.paymentId, project.number, project.id, order.userId, provider, order.amount],
          ...[order.currency, JSON.stringify(order.items), JSON.stringify(order.metadata)],
          ...[order.returnUrl, new Date(now()), order.expiresAt, checkAt],
        ],
      );
    },

    async recordSession(projectNumber: number, id: string, { sessionId }: Session): Promise<void> {
      await database.query(
        'UPDATE payments SET session_id = $3 WHERE project_number = $1 AND id = $2 AND session_id IS NULL',
        [projectNumber, id, sessionId],
      );
    },

    /** Of a payment that nobody was told of. */
    async forget(projectNumber: number, id: string): Promise<void> {
      await database.query(
        "DELETE FROM payments WHERE project_number = $1 AND id = $2 AND session_id IS NULL AND status = 'open'",
        [projectNumber, id],
      );
    },

    /**
     * Takes the payment as far as the outcome says; each status is reached, and told of, once. A refund
     * that is heard of before its payment takes both steps.
     */
    advance: (projectNumber: number, id: string, outcome: Outcome): Promise<void> =>
      database.transaction(async () => {
        if (outcome.status === 'refunded')
          await step(projectNumber, id, { ...outcome, status: 'paid' });
        await step(projectNumber, id, outcome);
      }),

    /** @throws ApiError invalid_cursor */
    async list(projectNumber: number, query: PageQuery): Promise<Page<Payment>> {
      const after = positionOf('payments', query.cursor);
      if (after && !isUuid(after.id))
        throw new ApiError('invalid_cursor', '"cursor": not one of this list.');
      const rows = await database.query<PaymentRow>(
        `SELECT * FROM payments WHERE project_number = $1 AND session_id IS NOT NULL
            AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3::uuid))
          ORDER BY created_at DESC, id DESC LIMIT $4`,
        [projectNumber, after?.createdAt, after?.id, query.limit + 1],
      );
      return pageOf('payments', query, rows, presentPayment);
    },
  };
};
