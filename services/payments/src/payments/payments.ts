import {
  ApiError,
  type EventPayloads,
  isUuid,
  type Payload,
  type Payment,
  type PaymentStatus,
  type paymentRoutes,
} from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import { type Page, type PageQuery, presentPage, readPosition } from '@backlot/http';
import type { Selectable } from 'kysely';
import type { Order, ProviderName, ProviderPayment, Session } from '../checkout/provider.ts';
import type { Payment as PaymentTable, DB as Tables } from '../tables.ts';

/** What the columns hold of their types. */
export interface PaymentValues {
  provider: ProviderName;
  status: PaymentStatus;
  items: paymentRoutes.Item[];
  metadata: Record<string, string>;
}
export type PaymentRow = Omit<Selectable<PaymentTable>, keyof PaymentValues> & PaymentValues;

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
  const queries = createQueries<Tables>(database);

  const transition = async (
    projectNumber: number,
    id: string,
    { status, sessionId, chargeId, livemode }: PaymentUpdate,
  ): Promise<void> => {
    const row = await queries
      .updateTable('payments')
      .set(({ fn, val }) => ({
        status,
        ...(sessionId != null && { session_id: fn.coalesce('session_id', val(sessionId)) }),
        ...(chargeId != null && { charge_id: chargeId }),
        ...(livemode !== undefined && { livemode }),
        ...(status === 'paid' && { paid_at: new Date(now()) }),
      }))
      .where('project_number', '=', projectNumber)
      .where('id', '=', id)
      .where('status', 'in', allowedFrom[status])
      .returning('project_id')
      .executeTakeFirst();
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
    const row = await queries
      .selectFrom('payments')
      .selectAll()
      .where('project_number', '=', projectNumber)
      .where(column, '=', value)
      .$narrowType<PaymentValues>()
      .executeTakeFirst();
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
      await queries
        .insertInto('payments')
        .values({
          id: order.paymentId,
          project_number: project.number,
          project_id: project.id,
          user_id: order.userId,
          provider,
          amount: order.amount,
          currency: order.currency,
          items: JSON.stringify(order.items),
          metadata: JSON.stringify(order.metadata),
          return_url: order.returnUrl,
          return_target: order.returnTarget,
          created_at: new Date(now()),
          expires_at: order.expiresAt,
          check_at: checkAt,
        })
        .execute();
    },

    async recordSession(projectNumber: number, id: string, session: Session): Promise<void> {
      await queries
        .updateTable('payments')
        .set({ session_id: session.sessionId, livemode: session.livemode })
        .where('project_number', '=', projectNumber)
        .where('id', '=', id)
        .where('session_id', 'is', null)
        .execute();
    },

    /** Deletes a payment whose session was never recorded, so that no caller knows it. */
    async deleteUnrecorded(projectNumber: number, id: string): Promise<void> {
      await queries
        .deleteFrom('payments')
        .where('project_number', '=', projectNumber)
        .where('id', '=', id)
        .where('session_id', 'is', null)
        .where('status', '=', 'open')
        .execute();
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
      const recorded = queries
        .selectFrom('payments')
        .selectAll()
        .where('project_number', '=', projectNumber)
        .where('session_id', 'is not', null);
      const page = after
        ? recorded.where(({ eb, refTuple, tuple }) =>
            eb(refTuple('created_at', 'id'), '<', tuple(after.createdAt, after.id)),
          )
        : recorded;
      const rows = await page
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(query.limit + 1)
        .$narrowType<PaymentValues>()
        .execute();
      return presentPage('payments', query, rows, presentPayment);
    },
  };
};
