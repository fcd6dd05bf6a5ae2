import {
  ApiError,
  type Payload,
  type Payment,
  type PaymentStatus,
  type paymentRoutes,
  type RecordOutcome,
} from '@backlot/contract';
import type { Selectable } from 'kysely';
import type { Order, ProviderName, ProviderPayment } from '../provider/provider.ts';
import type { Payment as PaymentTable } from '../tables.ts';

/** The record that a payment is for, with the owner's rule as it was at the checkout. */
export type PaidRecord = Pick<
  Payload<'record.paid'>,
  'collection' | 'recordId' | 'set' | 'pays'
> & {
  rule: string;
};

/** What the owner gave back, or is giving back: pending until the provider has answered. */
export type StoredRefund = {
  id: string;
  amount: number;
  /** All of the payment, at once. */
  isWhole: boolean;
  /** Goes back into the stock. */
  restock: { product: string; quantity: number }[];
  status: 'pending' | 'done';
  createdAt: string;
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
  closed_reason: 'mode_changed' | null;
  refunds: StoredRefund[] | null;
}
export type PaymentRow = Omit<Selectable<PaymentTable>, keyof PaymentValues> & PaymentValues;

export const paymentNotFound = () => new ApiError('not_found', 'There is no such payment.');

const presentRefund = ({ id, amount, status, createdAt }: StoredRefund) => ({
  id,
  amount,
  status,
  createdAt,
});

export const readRefunds = ({ refunds }: Pick<PaymentRow, 'refunds'>): StoredRefund[] =>
  refunds ?? [];

const sumDone = (row: PaymentRow): number =>
  readRefunds(row).reduce((sum, { status, amount }) => sum + (status === 'done' ? amount : 0), 0);

/** Only payments with a recorded session are shown. */
export const presentPayment = (row: PaymentRow): Payment => ({
  id: row.id,
  sessionId: row.session_id ?? '',
  status: row.status === 'open' && row.closed_reason !== null ? 'expired' : row.status,
  livemode: row.livemode,
  amount: row.amount,
  currency: row.currency,
  items: row.items,
  metadata: row.metadata,
  refundReason: row.refund_reason,
  refundedAmount: row.status === 'refunded' ? row.amount : sumDone(row),
  refunds: readRefunds(row).map(presentRefund),
  closedReason: row.closed_reason,
  latePaidAt: row.late_paid_at?.toISOString() ?? null,
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
