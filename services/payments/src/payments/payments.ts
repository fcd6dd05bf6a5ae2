import { type EventPayloads, isUuid, type Payload, type PaymentStatus } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import { createTellApp } from '@backlot/service';
import type { Stock } from '../products/stock.ts';
import { isSameMode, type Mode, type Modes } from '../provider/modes.ts';
import type { Order, Session } from '../provider/provider.ts';
import type { DB as Tables } from '../tables.ts';
import type { PaidRecords } from './paid-records.ts';
import {
  type PaidRecord,
  type PaymentRow,
  type PaymentValues,
  paymentNotFound,
  presentPayment,
} from './payment-row.ts';

/** Which payment, always within one project. */
export type PaymentReference = { id: string } | { sessionId: string } | { chargeId: string };

export interface NewPayment extends Order {
  amount: number;
  returnTarget: string | null;
  onPaid: PaidRecord | null;
}

/** What a provider says became of a payment. */
export interface PaymentUpdate {
  status: Exclude<Payload<'payment.changed'>['status'], 'refunding'>;
  sessionId?: string | null;
  chargeId?: string | null;
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
  refunded: ['paid', 'refunding'],
};

export interface PaymentsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  stock: Stock;
  paidRecords: PaidRecords;
  modes: Modes;
  now: () => number;
}

export type Payments = ReturnType<typeof createPayments>;

/** The rows: what was ordered, where it is paid, and how far it got. */
export const createPayments = (deps: PaymentsDeps) => {
  const { database, outbox, stock, paidRecords, modes, now } = deps;
  const queries = createQueries<Tables>(database);

  const tellApp = createTellApp(outbox, now);

  const tell = async (row: PaymentRow, status: Payload<'payment.changed'>['status']) => {
    const projectNumber = row.project_number;
    await outbox.append('payment.changed', {
      projectId: row.project_id,
      projectNumber,
      paymentId: row.id,
      status,
    });
    if (status === 'refunding') return;
    await tellApp({
      projectNumber,
      type: `payment.${status}`,
      orderKey: `payment/${row.id}`,
      data: { payment: { ...presentPayment(row), status } },
      userId: row.user_id,
    });
  };

  /** Undefined where the payment is past this status, or never was before it. */
  const move = (
    projectNumber: number,
    id: string,
    { status, sessionId, chargeId }: PaymentUpdate,
  ): Promise<PaymentRow | undefined> =>
    queries
      .updateTable('payments')
      .set(({ fn, val }) => ({
        status,
        ...(sessionId != null && { session_id: fn.coalesce('session_id', val(sessionId)) }),
        ...(chargeId != null && { charge_id: chargeId }),
        ...(status === 'paid' && { paid_at: new Date(now()) }),
      }))
      .where('project_number', '=', projectNumber)
      .where('id', '=', id)
      .where('status', 'in', allowedFrom[status])
      .returningAll()
      .$narrowType<PaymentValues>()
      .executeTakeFirst();

  const lock = (projectNumber: number, id: string): Promise<PaymentRow | undefined> =>
    queries
      .selectFrom('payments')
      .selectAll()
      .where('project_number', '=', projectNumber)
      .where('id', '=', id)
      .forUpdate()
      .$narrowType<PaymentValues>()
      .executeTakeFirst();

  /**
   * Whether money may pay for it: in the mode in which it was opened alone. The row stays locked, so that a change of
   * the keys is seen here or sees what was paid.
   */
  const isPayable = async (row: PaymentRow): Promise<boolean> =>
    isSameMode(row, await modes.current(row.project_number));

  /** Money of another mode pays nothing; that it came is for the owner to see. */
  const noteLate = async (row: PaymentRow): Promise<void> => {
    const { project_number: projectNumber, id } = row;
    const closed = await move(projectNumber, id, { status: 'expired' });
    if (closed) await tell(closed, 'expired');
    await queries
      .updateTable('payments')
      .set({ closed_reason: 'mode_changed', late_paid_at: row.late_paid_at ?? new Date(now()) })
      .where('project_number', '=', projectNumber)
      .where('id', '=', id)
      .execute();
  };

  /** The next sweep gives the money back. */
  const giveBack = async (row: PaymentRow): Promise<void> => {
    await queries
      .updateTable('payments')
      .set({
        status: 'refunding',
        refund_reason: 'out_of_stock',
        check_at: new Date(now()),
        checks: 0,
      })
      .where('project_number', '=', row.project_number)
      .where('id', '=', row.id)
      .execute();
    await tell(row, 'refunding');
  };

  /** What was paid for is taken from the stock and told to its record, or the money goes back. */
  const fulfil = async (row: PaymentRow): Promise<void> => {
    if (!(await stock.take(row.project_number, row.items))) return giveBack(row);
    await tell(row, 'paid');
    await paidRecords.request(row);
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
    async insert(order: NewPayment, { provider, livemode }: Mode, checkAt: Date) {
      const { project } = order;
      await queries
        .insertInto('payments')
        .values({
          id: order.paymentId,
          project_number: project.number,
          project_id: project.id,
          user_id: order.userId,
          provider,
          livemode,
          holder_sees: order.userId === null,
          amount: order.amount,
          currency: order.currency,
          items: JSON.stringify(order.items),
          metadata: JSON.stringify(order.metadata),
          return_url: order.returnUrl,
          return_target: order.returnTarget,
          on_paid: order.onPaid && JSON.stringify(order.onPaid),
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

    /** Until the transaction ends. @returns whether it is open still, in the project's present mode */
    async lockPayable(projectNumber: number, id: string): Promise<boolean> {
      const row = await lock(projectNumber, id);
      return row?.status === 'open' && row.closed_reason === null && (await isPayable(row));
    },

    lock,

    /**
     * Each status is reached once, with one event, and what a payment brings about once with it. A refund
     * reported before its payment takes both steps, and brings about nothing. All money comes through here.
     */
    advance: (projectNumber: number, id: string, update: PaymentUpdate): Promise<void> =>
      database.transaction(async () => {
        if (update.status === 'paid' || update.status === 'refunded') {
          const row = await lock(projectNumber, id);
          if (!row) return;
          if (allowedFrom.paid.includes(row.status) && !(await isPayable(row)))
            return update.status === 'paid' ? noteLate(row) : undefined;
        }
        if (update.status === 'refunded') {
          const unpaid = await move(projectNumber, id, { ...update, status: 'paid' });
          if (unpaid) await tell(unpaid, 'paid');
        }
        const row = await move(projectNumber, id, update);
        if (row) await (update.status === 'paid' ? fulfil(row) : tell(row, update.status));
      }),
  };
};
