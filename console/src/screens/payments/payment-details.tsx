import type { Item } from '../../api/operation-types.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { formatMoney } from '../../parts/words/money.ts';
import { Time } from '../../parts/words/time.tsx';
import { PaymentState } from './payment-state.tsx';
import { RefundForm } from './refund-form.tsx';

type Payment = Item<'listPayments'>;

const outcomes = {
  unpaid: 'not paid yet',
  pending: 'paid, and about to say so',
  done: 'says that it is paid',
  not_found: 'there is no such record',
  items_differ: 'its items are not what was paid, so that it is unchanged',
  already_paid: 'another payment had paid for it before',
  too_large: 'unchanged, because it would have become too large',
  not_unique: 'unchanged, because a value of it has to be the only one',
  schema_mismatch: 'unchanged, because it would not fit the schema',
} as const;

const Items = ({ payment }: { payment: Payment }) => (
  <table className="table">
    <thead>
      <tr>
        <th scope="col">What</th>
        <th scope="col" className="number">
          Quantity
        </th>
        <th scope="col" className="number">
          Each
        </th>
      </tr>
    </thead>
    <tbody>
      {payment.items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two of them may be the same, and none moves
        <tr key={index}>
          <td>{item.name}</td>
          <td className="number">{item.quantity}</td>
          <td className="number">{formatMoney(item.amount, payment.currency)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Refunds = ({ payment }: { payment: Payment }) => (
  <section className="stack close" aria-label="Given back">
    <h3>Given back</h3>
    <ul className="plain-list stack close">
      {payment.refunds.map(({ id, amount, status, createdAt }) => (
        <li key={id} className="row">
          {formatMoney(amount, payment.currency)} <Time at={createdAt} />
          {status === 'pending' && <span className="badge warn">under way</span>}
        </li>
      ))}
    </ul>
  </section>
);

interface PaymentDetailsProps {
  projectId: string;
  payment: Payment;
  onClose(): void;
}

/** One payment: what it was for, what became of it, and giving it back. */
export const PaymentDetails = ({ projectId, payment, onClose }: PaymentDetailsProps) => {
  const { id, sessionId, amount, currency, status, onPaid, metadata, refundReason } = payment;
  const more = Object.entries(metadata);
  const left = amount - payment.refundedAmount;
  return (
    <Modal title={formatMoney(amount, currency)} isOpen onClose={onClose} isWide>
      {refundReason === 'out_of_stock' && (
        <div className="callout warn">
          It was given back by itself: what was paid for had been sold meanwhile.
        </div>
      )}
      {payment.latePaidAt && (
        <div className="callout bad">
          Money came <Time at={payment.latePaidAt} /> for a session of another mode than the
          project’s. It has paid nothing: give it back at the provider.
        </div>
      )}
      <dl className="facts">
        <dt>State</dt>
        <dd>
          <PaymentState payment={payment} />
        </dd>
        <dt>Begun</dt>
        <dd>
          <Time at={payment.createdAt} />
        </dd>
        {payment.paidAt && (
          <>
            <dt>Paid</dt>
            <dd>
              <Time at={payment.paidAt} />
            </dd>
          </>
        )}
        {onPaid && (
          <>
            <dt>Order</dt>
            <dd>
              <span className="mono">{onPaid.recordId}</span>: {outcomes[onPaid.outcome]}
            </dd>
          </>
        )}
        {more.map(([name, value]) => (
          <Metadata key={name} name={name} value={value} />
        ))}
        <dt>Session</dt>
        <dd className="mono">{sessionId}</dd>
      </dl>
      <Items payment={payment} />
      {payment.refunds.length > 0 && <Refunds payment={payment} />}
      {status === 'paid' && left > 0 && (
        <RefundForm key={`${id} ${left}`} projectId={projectId} payment={payment} left={left} />
      )}
      <footer>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </footer>
    </Modal>
  );
};

const Metadata = ({ name, value }: { name: string; value: string }) => (
  <>
    <dt className="mono">{name}</dt>
    <dd>{value}</dd>
  </>
);
