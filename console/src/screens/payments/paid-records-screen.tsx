import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useChange, usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { DeleteButton } from '../../parts/lists/delete-button.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { formatMoney } from '../../parts/words/money.ts';
import { PaidRecordForm } from './paid-record-form.tsx';
import { PaymentTabs } from './payment-tabs.tsx';

type Rule = Item<'listOnPaidRules'>;

const changes = ['listOnPaidRules'] as const;
const example = {
  collection: 'orders',
  set: { status: 'paid' },
  pays: 'items',
} as const;

const describePays = (pays: Rule['pays']): string => {
  if (pays === 'items') return 'its own items';
  if ('product' in pays) return `the product ${pays.product}`;
  return `${formatMoney(pays.amount, pays.currency)} at least`;
};

const RuleRow = ({ projectId, rule }: { projectId: string; rule: Rule }) => {
  const { name, collection, set: fields, pays } = rule;
  const params = { projectId, name };
  const set = useChange('setOnPaidRule', { changes });
  const remove = useChange('deleteOnPaidRule', { changes });
  const removeIt = async () => {
    await remove.mutateAsync({ params });
    notify(`${name} is deleted; checkouts that have begun keep it`, {
      undo: () =>
        set.mutateAsync({ params, body: { collection, set: fields, pays } }).catch(notifyProblem),
    });
  };
  return (
    <tr>
      <td className="mono">{name}</td>
      <td className="mono">
        <Link to={`/projects/${projectId}/data/${encodeURIComponent(collection)}` as string}>
          {collection}
        </Link>
      </td>
      <td>{describePays(pays)}</td>
      <td className="mono">{JSON.stringify(fields)}</td>
      <td className="number">
        <DeleteButton
          takes="deleteOnPaidRule"
          name={name}
          isPending={remove.isPending}
          onDelete={removeIt}
        />
      </td>
    </tr>
  );
};

/** Orders are records of a collection: which payment changes them, and how. */
export const PaidRecordsScreen = () => {
  const projectId = useProjectId();
  const input = { params: { projectId } };
  const [isCreating, setCreating] = useState(false);
  const pages = usePages('listOnPaidRules', input);
  const create = (
    <Takes name="setOnPaidRule">
      <button type="button" className="primary" onClick={() => setCreating(true)}>
        Create rule
      </button>
    </Takes>
  );
  return (
    <Screen
      title="Orders"
      says="An order is a record of a collection. A rule says what pays for it, and what is written into it once the money has arrived: once, whatever happens."
      actions={
        <>
          <ApiCall
            name="setOnPaidRule"
            input={{ params: { projectId, name: 'order' }, body: example }}
          />
          {create}
        </>
      }
    >
      <PaymentTabs />
      <Listed
        pages={pages}
        empty={
          <Empty
            title="No rules yet"
            action={create}
            snippet="client.payments.checkout({ items, returnUrl, onPaid: { rule: 'order', recordId } })"
          >
            With a rule a payment marks an order as paid, and no browser can. A checkout names the
            rule and the record:
          </Empty>
        }
      >
        {(rules) => (
          <WideTable
            label="Rules"
            columns={[
              'Rule',
              'Orders are in',
              'Paid by',
              'Writes',
              { label: 'Actions', isHidden: true },
            ]}
          >
            {rules.map((rule) => (
              <RuleRow key={rule.name} projectId={projectId} rule={rule} />
            ))}
          </WideTable>
        )}
      </Listed>
      {isCreating && <PaidRecordForm projectId={projectId} onClose={() => setCreating(false)} />}
    </Screen>
  );
};
