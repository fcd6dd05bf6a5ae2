import {
  ApiError,
  type EventPayloads,
  isUuid,
  type Payload,
  type Payment,
  type PaymentStatus,
  type paymentRoutes,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { type Page, type PageQuery, presentPage, readPosition } from '@backlot/http';
import type { Order, ProviderName, ProviderPayment, Session } from '../checkout/provider.ts';

export interface PaymentRow {
  id: string;
  project_number: number;
  project_id: string;
  user_id: string | null;
  provider: ProviderName;
  session_id: string | null;
  charge_id: string | null;
  status: PaymentStatus;
  amount: number;
  currency: string;
  items: paymentRoutes.Item[];
  metadata: Record<string, string>;
  /** Where the provider leads: the returnUrl, or our page that names it. */
  return_url: string;
  /** The returnUrl, where `return_url` is our page. */
  return_target: string | null;
  livemode: boolean;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  checks: number;
}

/** Which payment, always within one project. */
export type PaymentReference = { id: string } | { sessionId: string } | { chargeId: string };

export interface NewPayment extends Order {
  amount: number;
  returnTarget: string | null;
}

/** What a provider says became of a payment. */
export interface PaymentUpdate {
  status: Payload<'payment.changed'>['status'];
  sessionId?: string | null;
  chargeId?: string | null;
  livemode?: boolean | undefined;
}

/** PostgreSQL stores no NUL: such an id exists nowhere. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0');

/**
 * Forward only, in whatever order updates arrive: a failure or expiry reported after the payment changes
 * nothing, and money that arrives after a reported failure or expiry counts.
 */
const allowedFrom: Record<PaymentUpdate['status'], readonly PaymentStatus[]> = {
  failed: ['open'],
  expired: ['open'],
  paid: ['open', 'failed', 'expired'],
  refunded: ['paid'],
};

export const paymentNotFound = () => new ApiError('not_found', 'There is no such payment.');

/** Only payments with a recorded session are shown. */
export const presentPayment = (row: PaymentRow): Payment => ({
  id: row.id,
  sessionId: row.session_id ?? '',
  status: row.status,
  livemode: row.livemode,
  amount: row.amount,
  currency: row.currency,
  items: row.items.map(({ name, amount, quantity }) => ({ name, amount, quantity })),
  metadata: row.metadata,
  createdAt: row.created_at.toISOString(),
  paidAt: row.paid_at?.toISOString() ?? null,
});

export const toOrder = (row: PaymentRow): Order => ({
  paymentId: row.id,
  project: { id: row.project_id, number: row.project_number },
  userId: row.user_id,
  items: row.items,
  currency: row.currency,
  metadata: row.metadata,
  returnUrl: row.return_url,
  expiresAt: row.expires_at,
});

export const toProviderPayment = (row: PaymentRow, sessionId: string): ProviderPayment => ({
  paymentId: row.id,
  project: { number: row.project_number },
  sessionId,
  chargeId: row.charge_id,
});

export interface PaymentsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  now: () => number;
}

export type Payments = ReturnType<typeof createPayments>;

/** The rows: what was ordered, where it is paid, and how far it got. */
export const createPayments = ({ database, outbox, now }: PaymentsDeps) => {
  const transition = async (
    projectNumber: number,
    id: string,
    { status, sessionId, chargeId, livemode }: PaymentUpdate,
  ): Promise<void> => {
    const [row] = await database.query<PaymentRow>(
      `UPDATE payments SET status = $3, session_id = coalesce(session_id, $4),
              charge_id = coalesce($5, charge_id), livemode = coalesce($8, livemode),
              paid_at = CASE WHEN $3 = 'paid' THEN $6::timestamptz ELSE paid_at END
        WHERE project_number = $1 AND id = $2 AND status = ANY($7) RETURNING *`,
      [
        projectNumber,
        id,
        status,
        sessionId ?? null,
        chargeId ?? null,
        new Date(now()),
        allowedFrom[status],
        livemode ?? null,
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

  const find = async (
    projectNumber: number,
    reference: PaymentReference,
  ): Promise<PaymentRow | null> => {
    const value = Object.values(reference)[0] ?? '';
    if ('id' in reference ? !isUuid(value) : !isStorable(value)) return null;
    const column = 'id' in reference ? 'id' : 'sessionId' in reference ? 'session_id' : 'charge_id';
    const [row] = await database.query<PaymentRow>(
      `SELECT * FROM payments WHERE project_number = $1 AND ${column} = $2`,
      [projectNumber, value],
    );
    return row ?? null;
  };

  return {
    find,

    /** Only with a recorded session. @throws ApiError not_found */
    async get(projectNumber: number, reference: PaymentReference): Promise<PaymentRow> {
      const row = await find(projectNumber, reference);
      if (row?.session_id == null) throw paymentNotFound();
      return row;
    },

    /** Before the provider is asked, so that money never moves without a row. */
    async insert(order: NewPayment, provider: ProviderName, checkAt: Date) {
      const { project } = order;
      await database.query(
        `INSERT INTO payments (id, project_number, project_id, user_id, provider, amount, currency,
                               items, metadata, return_url, return_target, created_at, expires_at,
                               check_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
        [
          ...[order.paymentId, project.number, project.id, order.userId, provider, order.amount],
          ...[order.currency, JSON.stringify(order.items), JSON.stringify(order.metadata)],
          ...[order.returnUrl, order.returnTarget, new Date(now()), order.expiresAt, checkAt],
        ],
      );
    },

    async recordSession(projectNumber: number, id: string, session: Session): Promise<void> {
      await database.query(
        `UPDATE payments SET session_id = $3, livemode = $4
          WHERE project_number = $1 AND id = $2 AND session_id IS NULL`,
        [projectNumber, id, session.sessionId, session.livemode],
      );
    },

    /** Deletes a payment whose session was never recorded, so that no caller knows it. */
    async deleteUnrecorded(projectNumber: number, id: string): Promise<void> {
      await database.query(
        "DELETE FROM payments WHERE project_number = $1 AND id = $2 AND session_id IS NULL AND status = 'open'",
        [projectNumber, id],
      );
    },

    /**
     * Each status is reached once, with one event. A refund reported before its payment takes both steps.
     */
    advance: (projectNumber: number, id: string, update: PaymentUpdate): Promise<void> =>
      database.transaction(async () => {
        if (update.status === 'refunded')
          await transition(projectNumber, id, { ...update, status: 'paid' });
        await transition(projectNumber, id, update);
      }),

    /** @throws ApiError invalid_cursor */
    async list(projectNumber: number, query: PageQuery): Promise<Page<Payment>> {
      const after = readPosition('payments', query.cursor);
      const rows = await database.query<PaymentRow>(
        `SELECT * FROM payments WHERE project_number = $1 AND session_id IS NOT NULL
            AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3::uuid))
          ORDER BY created_at DESC, id DESC LIMIT $4`,
        [projectNumber, after?.createdAt, after?.id, query.limit + 1],
      );
      return presentPage('payments', query, rows, presentPayment);
    },
  };
};
