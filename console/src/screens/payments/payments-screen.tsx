import { useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { useFilters } from '../../parts/lists/filters.ts';
import { Listed } from '../../parts/lists/listed.tsx';
import { Screen } from '../../parts/screen.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { formatMoney } from '../../parts/words/money.ts';
import { Time } from '../../parts/words/time.tsx';
import { PaymentDetails } from './payment-details.tsx';
import { PaymentState, paymentStates } from './payment-state.tsx';
import { PaymentTabs } from './payment-tabs.tsx';
import { TestMode } from './test-mode.tsx';
import './payments.css';
import { WideTable } from '../../parts/lists/wide-table.tsx';

type Payment = Item<'listPayments'>;

const refreshMs = 15_000;

const firstCheckout = `const { url } = await client.payments.checkout({
  items: [{ name: 'T-shirt', amount: 1999, quantity: 1 }],
  returnUrl: location.href,
});
location.href = url;`;

const describeItems = ({ items }: Payment): string =>
  items.map(({ name, quantity }) => (quantity > 1 ? `${quantity} × ${name}` : name)).join(', ');

const PaymentRow = ({ payment, onOpen }: { payment: Payment; onOpen(): void }) => (
  <tr>
    <td className="number">
      <button type="button" className="link" onClick={onOpen}>
        {formatMoney(payment.amount, payment.currency)}
      </button>
    </td>
    <td className="payment-items">
      <div className="cut" title={describeItems(payment)}>
        {describeItems(payment)}
      </div>
    </td>
    <td>
      <PaymentState payment={payment} />
    </td>
    <td>
      <Time at={payment.paidAt ?? payment.createdAt} />
    </td>
  </tr>
);

const StateFilter = () => {
  const [{ status = '', user }, change] = useFilters();
  return (
    <div className="row">
      <select
        className="state-filter"
        aria-label="State"
        value={status}
        onChange={({ target }) => change({ status: target.value })}
      >
        <option value="">All states</option>
        {Object.entries(paymentStates).map(([state, { label }]) => (
          <option key={state} value={state}>
            {label}
          </option>
        ))}
      </select>
      {user && (
        <button type="button" onClick={() => change({ user: undefined })}>
          Of all users
        </button>
      )}
    </div>
  );
};

/** What was paid, what is open, and what went back. */
export const PaymentsScreen = () => {
  const projectId = useProjectId();
  const [{ status, user }] = useFilters();
  const [openId, setOpenId] = useState<string>();
  const input = { params: { projectId }, query: { status, user } };
  const pages = usePages('listPayments', input, { everyMs: refreshMs });
  const open = pages.items?.find(({ id }) => id === openId);
  return (
    <Screen
      title="Payments"
      says="What your app has sold, newest first."
      actions={<ApiCall name="listPayments" input={input} />}
    >
      <PaymentTabs />
      <TestMode projectId={projectId} />
      <StateFilter />
      <Listed
        pages={pages}
        empty={
          status || user ? (
            <Empty title="No such payments">None is in this state.</Empty>
          ) : (
            <Empty title="No payments yet" snippet={firstCheckout}>
              A checkout of your app leads its payer to a page where they pay, and stands here from
              then on:
            </Empty>
          )
        }
      >
        {(payments) => (
          <WideTable
            label="Payments"
            columns={[{ label: 'Amount', isNumber: true }, 'For', 'State', 'When']}
          >
            {payments.map((payment) => (
              <PaymentRow key={payment.id} payment={payment} onOpen={() => setOpenId(payment.id)} />
            ))}
          </WideTable>
        )}
      </Listed>
      {open && (
        <PaymentDetails projectId={projectId} payment={open} onClose={() => setOpenId(undefined)} />
      )}
    </Screen>
  );
};
