import type { EventPayloads, Payload } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import { sql } from 'kysely';
import type { DB as Tables } from '../tables.ts';
import type { PaymentRow, PaymentValues } from './payment-row.ts';

const batchSize = 100;
/** An answer should have come by then. */
const firstCheckMs = 60_000;

const toEvent = (
  row: PaymentRow,
  { collection, recordId, set, pays = 'items' }: NonNullable<PaymentRow['on_paid']>,
): Payload<'record.paid'> => ({
  projectId: row.project_id,
  projectNumber: row.project_number,
  collection,
  recordId,
  set,
  pays,
  payment: {
    id: row.id,
    // Who reads the record is not the payer: where the session's id alone shows the payment, it stays with who has it.
    sessionId: row.holder_sees ? row.id : (row.session_id ?? ''),
    amount: row.amount,
    currency: row.currency,
    items: row.items,
    livemode: row.livemode,
    paidAt: row.paid_at?.toISOString() ?? '',
  },
});

export interface PaidRecordsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  now: () => number;
}

export type PaidRecords = ReturnType<typeof createPaidRecords>;

/**
 * The records that payments are for. The records service changes them, each once however often it is
 * told, and answers; until it has, it is told again.
 */
export const createPaidRecords = ({ database, outbox, now }: PaidRecordsDeps) => {
  const queries = createQueries<Tables>(database);

  /** The next time is as far away as the payment is past: a minute, two, four, up to 6 hours. */
  const claimDue = () => {
    const at = new Date(now());
    return queries
      .updateTable('payments')
      .set({
        record_check_at: sql`${at}::timestamptz + least(greatest(${at} - paid_at, interval '1 minute'), interval '6 hours')`,
      })
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('project_number', 'id'),
          'in',
          selectFrom('payments')
            .select(['project_number', 'id'])
            .where('record_outcome', '=', 'pending')
            .where('record_check_at', '<=', at)
            .orderBy('record_check_at')
            .limit(batchSize)
            .forUpdate()
            .skipLocked()
            .$asTuple('project_number', 'id'),
        ),
      )
      .returningAll()
      .$narrowType<PaymentValues>()
      .execute();
  };

  return {
    /** To be called in the transaction in which the payment becomes paid. */
    async request(row: PaymentRow): Promise<void> {
      if (row.on_paid === null) return;
      await queries
        .updateTable('payments')
        .set({ record_outcome: 'pending', record_check_at: new Date(now() + firstCheckMs) })
        .where('project_number', '=', row.project_number)
        .where('id', '=', row.id)
        .execute();
      await outbox.append('record.paid', toEvent(row, row.on_paid));
    },

    /** What is done stays done, whatever a late answer says. */
    async settle({ projectNumber, paymentId, outcome }: Payload<'record.settled'>): Promise<void> {
      await queries
        .updateTable('payments')
        .set({ record_outcome: outcome })
        .where('project_number', '=', projectNumber)
        .where('id', '=', paymentId)
        .where('record_outcome', 'is not', null)
        .where('record_outcome', '<>', 'done')
        .execute();
    },

    /** For the sweep. A payment that was given back meanwhile changes no record any more. */
    requestAgain: (): Promise<void> =>
      database.transaction(async () => {
        for (const row of await claimDue())
          if (row.on_paid && row.status === 'paid')
            await outbox.append('record.paid', toEvent(row, row.on_paid));
      }),
  };
};
