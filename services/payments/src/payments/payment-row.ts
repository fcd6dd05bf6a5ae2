import {
  ApiError,
  type Payload,
  type Payment,
  type PaymentStatus,
  type paymentRoutes,
  type RecordOutcome,
} from '@backlot/contract';
import type { Selectable } from 'kysely';
import type { Order, ProviderName, ProviderPayment } from '../checkout/provider.ts';
import type { Payment as PaymentTable } from '../tables.ts';

/** The record that a payment is for, with the owner's rule as it was at the checkout. */
export type PaidRecord = Pick<Payload<'record.paid'>, 'collection' | 'recordId' | 'set'> & {
  rule: string;
};

/** What the columns hold of their types. */
export interface PaymentValues {
  provider: ProviderName;
  status: PaymentStatus;
  items: paymentRoutes.Item[];
  metadata: Record<string, string>;
  on_paid: PaidRecord | null;
  record_outcome: Exclude<RecordOutcome, 'unpaid'> | null;
  refund_reason: 'out_of_stock' | null;
}
export type PaymentRow = Omit<Selectable<PaymentTable>, keyof PaymentValues> & PaymentValues;

export const paymentNotFound = () => new ApiError('not_found', 'There is no such payment.');

/** Only payments with a recorded session are shown. */
export const presentPayment = (row: PaymentRow): Payment => ({
  id: row.id,
  sessionId: row.session_id ?? '',
  status: row.status,
  livemode: row.livemode,
  amount: row.amount,
  currency: row.currency,
  items: row.items,
  metadata: row.metadata,
  refundReason: row.refund_reason,
  onPaid: row.on_paid && {
    rule: row.on_paid.rule,
    recordId: row.on_paid.recordId,
    outcome: row.record_outcome ?? 'unpaid',
  },
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
