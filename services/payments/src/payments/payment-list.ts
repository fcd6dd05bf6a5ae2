import type { Payment, paymentRoutes, RouteQuery } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { type Page, type Position, readPage } from '@backlot/http';
import type { DB as Tables } from '../tables.ts';
import { type PaymentValues, presentPayment } from './payment-row.ts';

type Query = RouteQuery<typeof paymentRoutes.listMyPayments>;

export type PaymentList = ReturnType<typeof createPaymentList>;

/** Payments with a session, page by page. */
export const createPaymentList = (database: Database) => {
  const queries = createQueries<Tables>(database);

  const withStatus = (projectNumber: number, status: Query['status']) => {
    const recorded = queries
      .selectFrom('payments')
      .selectAll()
      .where('project_number', '=', projectNumber)
      .where('session_id', 'is not', null);
    if (status === undefined) return recorded;
    // What is closed is shown as expired before the provider has closed it.
    if (status === 'open')
      return recorded.where('status', '=', 'open').where('closed_reason', 'is', null);
    if (status !== 'expired') return recorded.where('status', '=', status);
    return recorded
      .where('status', 'in', ['open', 'expired'])
      .where(({ eb, or }) =>
        or([eb('status', '=', 'expired'), eb('closed_reason', 'is not', null)]),
      );
  };

  return {
    /** @param userId whose; all where it is null. @throws ApiError invalid_cursor */
    read(
      projectNumber: number,
      query: Query,
      userId: string | null = null,
    ): Promise<Page<Payment>> {
      const { status, sort } = query;
      const chosen = withStatus(projectNumber, status).$if(userId !== null, (payments) =>
        payments.where('user_id', '=', userId),
      );
      const [direction, isBehind] =
        sort === 'createdAt' ? (['asc', '>'] as const) : (['desc', '<'] as const);
      const read = (after: Position | undefined, count: number) => {
        const page = after
          ? chosen.where(({ eb, refTuple, tuple }) =>
              eb(refTuple('created_at', 'id'), isBehind, tuple(after.createdAt, after.id)),
            )
          : chosen;
        return page
          .orderBy('created_at', direction)
          .orderBy('id', direction)
          .limit(count)
          .$narrowType<PaymentValues>()
          .execute();
      };
      const list = [
        'payments',
        ...(status ? [status] : []),
        ...(direction === 'asc' ? [sort] : []),
        ...(userId === null ? [] : [userId]),
      ];
      return readPage(list.join(' '), query, read, presentPayment);
    },
  };
};
