import type { Item } from '../../api/operation-types.ts';
import { formatMoney } from '../../parts/words/money.ts';

type Payment = Item<'listPayments'>;

/** States of a payment, in words. */
export const paymentStates = {
  open: { label: 'open', badge: '' },
  paid: { label: 'paid', badge: 'good' },
  failed: { label: 'failed', badge: 'bad' },
  expired: { label: 'ended unpaid', badge: '' },
  refunding: { label: 'being given back', badge: 'warn' },
  refunded: { label: 'given back', badge: 'warn' },
} as const;

export const PaymentState = ({ payment }: { payment: Payment }) => {
  const { status, refundedAmount, currency, livemode } = payment;
  const { label, badge } = paymentStates[status];
  const isInPart = refundedAmount > 0 && status !== 'refunded';
  return (
    <div className="row">
      <span className={`badge ${badge}`}>{label}</span>
      {isInPart && (
        <span className="badge warn">{formatMoney(refundedAmount, currency)} given back</span>
      )}
      {!livemode && <span className="badge">test</span>}
    </div>
  );
};
